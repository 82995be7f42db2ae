"""What the caller did wrong, each with the value and the way out. What happens in a run is a message instead.

PenguinError
├── ConfigError          no such model, provider or agent; an unreadable configuration
├── InputError           a message that no run accepts
├── SessionError         no such session, or it cannot be used now
├── ToolDefinitionError  a function that cannot be offered as a tool
└── TraceError           a Trace that cannot be read or written
    └── TraceLocked      another process or session writes it
"""


class PenguinError(Exception):
    """The base of every error that this package raises on purpose."""


class ConfigError(PenguinError):
    """The configuration names something that is not there, or cannot be read."""


class InputError(PenguinError):
    """The input cannot become a request; nothing was written."""


class SessionError(PenguinError):
    """The session does not exist, or cannot be used now."""


class ToolDefinitionError(PenguinError):
    """A function cannot be offered as a tool; the text names the parameter."""


class TraceError(PenguinError):
    """A Trace cannot be read or written."""


class TraceLocked(TraceError):
    """Another owner writes this session's Trace; the text names it."""


class ToolFailed(Exception):
    """Raised by a tool's function: its text is the output that the model reads."""
