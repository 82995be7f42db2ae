"""Records the session that `penguin demo` plays: `python scripts/record_demo.py [FILE]`.

The script below is the model; its tools really run, so the recording holds what they really said.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from penguin_harness.agent import create_agent
from penguin_harness.contracts import ModelRef
from penguin_harness.llm.script import Script, call, say, think
from penguin_harness.omnimessage import user_text

RECORDING = Path(__file__).parents[1] / "src" / "penguin_harness" / "cli" / "demo.jsonl"
QUESTION = "Write a small Python program that draws a waddle of penguins, and a test for it. Run both."

PROGRAM = r'''"""Draw a waddle of penguins: python3 penguins.py [HOW_MANY]"""

import sys

PENGUIN = (
    "   (o_  ",
    r"   //\  ",
    "   V_/_ ",
)


def waddle(count):
    """So many penguins, side by side."""
    return "\n".join((row * count).rstrip() for row in PENGUIN)


if __name__ == "__main__":
    print(waddle(sys.argv[1] if len(sys.argv) > 1 else 3))
'''
TEST = """import unittest

from penguins import waddle


class WaddleTest(unittest.TestCase):
    def test_every_penguin_has_a_beak(self):
        self.assertEqual(waddle(5).count("(o_"), 5)

    def test_no_penguins_no_ink(self):
        self.assertEqual(waddle(0).strip(), "")


if __name__ == "__main__":
    unittest.main()
"""
TURNS = [
    [
        think("A penguin is three lines of text; a waddle is each line, repeated. One file for it, one for the test."),
        say("A group of penguins on land is called a *waddle*. First the program and its test."),
        call("write_file", path="penguins.py", content=PROGRAM),
        call("write_file", path="test_penguins.py", content=TEST),
    ],
    [
        say("Now let them walk."),
        call("exec_command", command="python3 penguins.py 4"),
    ],
    [
        think("sys.argv holds text, so row * '4' cannot work. The test missed it: it calls waddle with a number."),
        say("The command line hands over text, not a number. One word mends it."),
        call("edit_file", path="penguins.py", old_text="waddle(sys.argv[1] if", new_text="waddle(int(sys.argv[1]) if"),
    ],
    [
        say("Once more, and the test beside it."),
        call("exec_command", command="python3 penguins.py 4"),
        call("exec_command", command="python3 -m unittest"),
    ],
    [
        say(
            "Done. Four penguins walk, and both tests pass.\n\n"
            "- `penguins.py` draws as many as you ask for: `python3 penguins.py 7`\n"
            "- `test_penguins.py` counts their beaks\n\n"
            "The bug was mine: `sys.argv` holds **text**, and text times text is not a waddle."
        ),
    ],
]


async def record(target: Path) -> None:
    """Run the script once and keep its Trace."""
    with tempfile.TemporaryDirectory(prefix="penguin-demo-") as folder:
        workspace = Path(folder) / "waddle"
        workspace.mkdir()
        agent = await create_agent(root=Path(folder) / "data")
        model = Script(TURNS, ref=ModelRef("demo", "a-recorded-model"))
        async with await agent.create_session(workspace=workspace, model=model, source="cli") as session:
            async for _ in session.run([user_text(QUESTION)], approve=lambda call: "allow"):
                pass
            shutil.copyfile(session.trace_path, target)


if __name__ == "__main__":
    asyncio.run(record(Path(sys.argv[1]) if len(sys.argv) > 1 else RECORDING))
