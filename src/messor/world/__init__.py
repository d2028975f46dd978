"""A simulated web for the demo, the tests and the benchmarks.

Everything is drawn from one seed and served on loopback addresses by one process. Nothing in it
knows Messor; Messor reaches it through the operator setting `allowed_networks`.
"""

from messor.world.answers import Answer
from messor.world.process import WorldProcess
from messor.world.requestlog import LoggedRequest, read_log
from messor.world.server import Server, serve
from messor.world.sites import Site
from messor.world.world import Profile, World

__all__ = [
    "Answer",
    "LoggedRequest",
    "Profile",
    "Server",
    "Site",
    "World",
    "WorldProcess",
    "read_log",
    "serve",
]
