import json
import subprocess
import sys

asked = json.load(sys.stdin)
done = subprocess.run([sys.executable, "-m", "unittest"], cwd=asked["workspace"], capture_output=True, text=True)
if done.returncode and asked["round"] < 3:
    said = (done.stdout + done.stderr)[-4000:]
    print(json.dumps({"decision": "continue", "reason": "tests fail", "text": f"The tests fail. Mend it.\n{said}"}))
