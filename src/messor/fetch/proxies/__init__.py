"""Proxies: alternative routes to a site, configured by the operator and used only where a domain's
policy says so.

A proxy never changes what may be requested or how often: names are resolved and addresses checked
here, the proxy connects to exactly the checked address, and the lane's delay is unchanged.
"""
