import json
import shlex
import sys

asked = json.load(sys.stdin)
words = shlex.split(asked["arguments"]["command"])
if "push" in words and not {"-f", "--force"}.isdisjoint(words):
    print(json.dumps({"decision": "deny", "reason": "published history stays; push without --force"}))
