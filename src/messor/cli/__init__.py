"""The command line: one of the three doors; parses words, calls services, prints."""
