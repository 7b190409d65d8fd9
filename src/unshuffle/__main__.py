"""`python -m unshuffle` is the `unshuffle` command."""

from .cli import main

main()
