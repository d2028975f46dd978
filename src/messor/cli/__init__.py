"""The command line: parses arguments, calls services and prints results."""
