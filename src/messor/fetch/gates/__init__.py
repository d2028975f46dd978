"""Quality gates: whether an answer is the page that was asked for.

Pure functions of one answer, run on every page. What follows from a verdict — a retry, the next
provider, a raised risk — is left to the router and to `courtesy`.
"""

from messor.fetch.gates.judge import judge
from messor.fetch.gates.verdict import Block, GateVerdict
from messor.fetch.gates.walls import soft_404

__all__ = ["Block", "GateVerdict", "judge", "soft_404"]
