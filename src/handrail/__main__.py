"""`python -m handrail` is the `handrail` command."""

from handrail.app import main

main()
