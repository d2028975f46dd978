"""May we? Domains: submission, approval and the rules that decide."""
