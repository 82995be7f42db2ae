"""The command `penguin`: its commands, loaded when they are called, and how everything ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from penguin_harness import __version__
from penguin_harness.cli.console import BROKEN_PIPE, DONE, INTERRUPTED, USAGE, forget_output, prepare_streams, say
from penguin_harness.errors import PenguinError

_HERE = "penguin_harness.cli"
_COMMANDS = {
    "run": ("run:run", "Do one task and end."),
    "chat": ("chat:chat", "Talk with an agent in this folder."),
    "demo": ("demo:demo", "See it at work; needs no key."),
    "ls": ("sessions:list_sessions", "List the sessions, the newest first."),
    "trace": ("trace:app", "Look at Traces and check them."),
    "model": ("model:app", "Add, list, test and remove models."),
    "agent": ("agent:app", "Make, edit and keep agents."),
    "vault": ("vault:app", "Keep the secrets that an agent's commands need."),
    "skills": ("skills:app", "List and show an agent's skills."),
    "policy": ("policy:app", "See which commands the rules forbid."),
    "mcp": ("mcp:app", "List and try an agent's MCP servers."),
    "schema": ("schema:schema", "Print the protocol: JSON Schema, or its reference."),
}


def build_app() -> App:
    """The commands, none of them imported yet."""
    app = App(
        name="penguin",
        help="PenguinHarness: an agent harness whose stream, Trace and model context are one message protocol.",
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(show_default=False),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        exit_on_error=False,
        print_error=False,
    )
    for name, (target, text) in _COMMANDS.items():
        app.command(f"{_HERE}.{target}", name=name, help=text)
    app.register_install_completion_command(add_to_startup=False)  # pyright: ignore[reportUnknownMemberType]
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line. What goes wrong is one line on stderr and the exit code, never a traceback."""
    prepare_streams()
    try:
        code = build_app()(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except CycloptsError as error:
        say(f"{error}; see penguin --help")
        return USAGE
    except PenguinError as error:
        say(str(error))
        return USAGE
    except BrokenPipeError:
        forget_output()
        return BROKEN_PIPE
    except OSError as error:
        forget_output()
        say(_words(error))
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if isinstance(code, int) else DONE


def _words(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"
