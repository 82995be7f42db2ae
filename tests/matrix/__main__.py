"""Every matrix whole, one after another:  python -m tests.matrix [--quick]

Prints the points tried and the failures of each; the exit code is 1 when any failed. About ten minutes; `--quick`
tries a sample of each.
"""

from __future__ import annotations

import subprocess
import sys

WHOLE = {
    "upstream": ["--all"],
    "fault": ["--all"],
    "abort": ["--all"],
    "kill": ["--points", "200"],
    "crash": ["--all"],
}
QUICK = {
    "upstream": ["--all"],
    "fault": ["--points", "60"],
    "abort": ["--points", "60"],
    "kill": ["--points", "10"],
    "crash": ["--points", "1000"],
}


def main() -> int:
    plan = QUICK if "--quick" in sys.argv[1:] else WHOLE
    codes = [subprocess.call([sys.executable, "-m", f"tests.matrix.{name}", *how]) for name, how in plan.items()]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
