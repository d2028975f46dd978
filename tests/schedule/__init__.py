"""What runs by itself: when, by whom, and what it does."""
