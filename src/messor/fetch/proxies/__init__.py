"""Proxies: other ways to a site, named by the operator and used only where a domain's policy says so.

A proxy never changes what may be asked or how often: names are resolved and addresses judged
here, the proxy is asked for exactly the address that passed, and the lane's pace is unchanged.
"""
