"""`python -m weir`: the command line."""

from weir.commands.main import main

main()
