"""Who decides, and what follows? Submission, review, pre-flight, purge, erasure."""
