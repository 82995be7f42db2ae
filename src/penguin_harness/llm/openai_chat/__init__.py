"""OpenAI's Chat Completions protocol, which most servers of models speak.

`request` turns payloads into the body; `chunk` and `reader` turn what arrives into deltas. Those are pure, and `model`
connects them to the network.
"""

from penguin_harness.llm.openai_chat.model import OpenAIChat

__all__ = ["OpenAIChat"]
