"""Products: what a page sells, its price and availability.

`read_products` returns the page's product first, then its other offers, variants and images.
"""

from messor.content.products.generic import PARSER, VERSION, read_products

__all__ = ["PARSER", "VERSION", "read_products"]
