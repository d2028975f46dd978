"""How do we behave? Hosts, lanes, pace, risk, friction, robots.txt in force."""
