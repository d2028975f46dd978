"""`python -m messor` is `messor`."""

from messor.cli.main import main

main()
