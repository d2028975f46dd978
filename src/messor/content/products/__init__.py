"""Products: what a page sells, for how much, and whether it can be had.

`read_products` answers the page's product first, then its further offers, variants and images.
"""

from messor.content.products.generic import PARSER, VERSION, read_products

__all__ = ["PARSER", "VERSION", "read_products"]
