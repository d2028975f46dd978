"""How the crawler behaves towards hosts: lanes, pace, risk, friction, applicable robots.txt."""
