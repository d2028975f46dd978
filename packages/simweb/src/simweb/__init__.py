"""A simulated web for the demo, the tests and the benchmarks.

Everything is generated from one seed and served on loopback addresses by one process. It does not
depend on Messor, except for `simweb.commands`; Messor reaches it through the operator setting
`allowed_networks`.
"""

from simweb.answers import SimResponse
from simweb.process import WorldProcess
from simweb.requestlog import LoggedRequest, read_log
from simweb.server import Server, serve
from simweb.sites import Site
from simweb.world import Profile, World

__all__ = [
    "LoggedRequest",
    "Profile",
    "Server",
    "SimResponse",
    "Site",
    "World",
    "WorldProcess",
    "read_log",
    "serve",
]
