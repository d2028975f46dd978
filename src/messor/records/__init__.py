"""Records, products, prices and images, with their history and corrections."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("corrections", "product_queries", "queries", "titles")
