"""The browser: pages rendered by an installed Chromium behind Messor's own pinning proxy.

A render counts as one request of its lane. Every other request of the page passes the address
guard, is limited in number and bytes, and is listed in the fetch's detail.
"""

from messor.fetch.browser.limits import BrowserLimits, find_chromium, why_unavailable
from messor.fetch.browser.provider import BrowserProvider

__all__ = ["BrowserLimits", "BrowserProvider", "find_chromium", "why_unavailable"]
