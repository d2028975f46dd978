"""Records, products, prices and images, with their history and corrections."""
