"""How do we behave? Hosts, lanes, worker leases, pace and robots in force."""
