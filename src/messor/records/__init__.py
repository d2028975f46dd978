"""What is known? Records, products, prices, images, their history and corrections."""
