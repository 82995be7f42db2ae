"""Models: the gateway to the vendors' protocols, and models that need no vendor.

HTTP and the adapters are imported only when a model is created.
"""

from penguin_harness.llm.catalog import key_variables
from penguin_harness.llm.gateway import create_model
from penguin_harness.llm.replay import Replay
from penguin_harness.llm.script import Script, call, fail, say, think

__all__ = ["Replay", "Script", "call", "create_model", "fail", "key_variables", "say", "think"]
