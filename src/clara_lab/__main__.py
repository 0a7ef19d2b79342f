"""`python -m clara_lab`: the commands of the laboratory."""

from clara_lab.cli import main

main()
