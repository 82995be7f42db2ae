"""Models: the gateway to the vendors' protocols, and models that need no vendor (`replay`, `script`).

HTTP and the adapters are imported only when a model is created.
"""

from penguin_harness.llm.catalog import ModelFacts, key_variables
from penguin_harness.llm.catalog import facts as model_facts
from penguin_harness.llm.gateway import create_model
from penguin_harness.llm.prices import Price

__all__ = ["ModelFacts", "Price", "create_model", "key_variables", "model_facts"]
