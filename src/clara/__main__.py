"""`python -m clara` is the same as `clara`."""

from clara.cli import main

main()
