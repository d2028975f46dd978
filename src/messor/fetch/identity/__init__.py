"""Who asks? Web Bot Auth: keys, signatures of requests, and what is published about both."""
