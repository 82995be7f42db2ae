"""Models: the gateway to the vendors' protocols, and models that need no vendor (`replay`, `script`).

HTTP and the adapters are imported only when a model is created.
"""

from penguin_harness.llm.catalog import key_variables
from penguin_harness.llm.gateway import create_model

__all__ = ["create_model", "key_variables"]
