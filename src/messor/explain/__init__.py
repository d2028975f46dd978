"""Why did it happen, and what do the rules say? Nothing here fetches or stores."""
