"""Records, products, prices and images, with their history and corrections."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "correction_queries",
    "corrections",
    "old_products",
    "price_queries",
    "product_queries",
    "queries",
    "rankings",
    "titles",
    "typed_values",
)
