"""Checks the pinned requirements for known vulnerabilities; exits 1 if there are any.

If the advisory service cannot be reached, it says so and exits 0. Any other error fails: an audit that checks
nothing must not pass forever.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

UNREACHABLE = re.compile(r"(?i)connection|timed? ?out|resolve|unreachable|proxy|max retries|ssl")
COMMAND = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")


def main(requirements: str) -> int:
    """Run pip-audit and evaluate its output."""
    tool = Path(sys.executable).with_name("pip-audit")
    done = subprocess.run(
        [tool, "-r", requirements, *COMMAND], capture_output=True, text=True, check=False
    )
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"audit: pip-audit failed: {done.stderr.strip().splitlines()[-1:]}")
        return 0 if UNREACHABLE.search(done.stderr) else 1
    checked = [one for one in found if "skip_reason" not in one]
    hits = [(one["name"], vuln["id"]) for one in checked for vuln in one["vulns"]]
    for name, advisory in hits:
        print(f"audit: {name}: {advisory}")
    if not checked:
        print("audit: the advisory service cannot be reached; nothing was checked.")
        return 0
    print(f"audit: {len(checked)} of {len(found)} packages checked, {len(hits)} advisories found.")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
