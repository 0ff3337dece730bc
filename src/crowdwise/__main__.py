"""`python -m crowdwise` is the command `crowdwise`."""

from crowdwise.cli.main import run

run()
