"""Asks for known vulnerabilities of the pinned requirements; exits 1 when there are any.

Where the service that knows them cannot be reached, it says so and exits 0: what cannot be known
is not a failure, and is not called sound either. Any other error fails: an audit that looks at
nothing must not pass for ever.
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
    """Run pip-audit and judge its answer."""
    tool = Path(sys.executable).with_name("pip-audit")
    done = subprocess.run(
        [tool, "-r", requirements, *COMMAND], capture_output=True, text=True, check=False
    )
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"audit: nothing was looked up: {done.stderr.strip().splitlines()[-1:]}")
        return 0 if UNREACHABLE.search(done.stderr) else 1
    asked = [one for one in found if "skip_reason" not in one]
    hits = [(one["name"], vuln["id"]) for one in asked for vuln in one["vulns"]]
    for name, advisory in hits:
        print(f"audit: {name}: {advisory}")
    if not asked:
        print("audit: the advisories cannot be reached from here: nothing was looked up.")
        return 0
    print(f"audit: {len(asked)} of {len(found)} packages were looked up, {len(hits)} advisories.")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
