"""Quality gates: whether a response is the requested page.

Pure functions of one response, run on every page. What follows from a verdict (a retry, the next
provider, a raised risk) is left to the router and to `politeness`.
"""

from messor.fetch.gates.judge import judge
from messor.fetch.gates.verdict import Block, GateVerdict
from messor.fetch.gates.walls import soft_404

__all__ = ["Block", "GateVerdict", "judge", "soft_404"]
