"""What do the web's rules say? Pure functions, no I/O."""
