"""How is it got? The address guard, HTTP, limits and typed outcomes."""
