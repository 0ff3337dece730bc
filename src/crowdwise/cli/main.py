"""The `crowdwise` command: gathers the commands; bad input ends in one sentence and exit code 2.

Command modules import nothing heavier than typer at the top; numpy, polars and torch are
imported inside the command, so that `crowdwise --help` answers at once.
"""

import os
import sys

import typer

from crowdwise.cli.aggregate import aggregate
from crowdwise.cli.compare import compare
from crowdwise.cli.data import data
from crowdwise.cli.demo import demo
from crowdwise.cli.export import export
from crowdwise.cli.fit import fit
from crowdwise.cli.inspect import inspect
from crowdwise.cli.methods import methods
from crowdwise.cli.predict import predict
from crowdwise.cli.report import report
from crowdwise.cli.reproduce import reproduce
from crowdwise.cli.simulate import simulate
from crowdwise.errors import InputError, LostProcess

app = typer.Typer(
    name="crowdwise",
    help="Train a classifier from a crowd's labels, and learn whom in the crowd to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def main() -> None:
    """Train a classifier from a crowd's labels, and learn whom in the crowd to trust."""


app.add_typer(data, name="data")
app.command("demo")(demo)
app.command("fit")(fit)
app.command("predict")(predict)
app.command("export")(export)
app.command("compare")(compare)
app.command("aggregate")(aggregate)
app.command("inspect")(inspect)
app.command("methods")(methods)
app.command("reproduce")(reproduce)
app.command("report")(report)
app.command("simulate")(simulate)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line; `arguments` defaults to the process's own."""
    try:
        app(args=arguments)
    except InputError as error:
        if isinstance(error, LostProcess) or _is_first():
            sys.stderr.write(f"crowdwise: {error}\n")
        sys.exit(2)


def _is_first() -> bool:
    """Of several processes that read the same, one says what is wrong with it."""
    return all(
        os.environ.get(name, "0") in ("", "0") for name in ("RANK", "LOCAL_RANK", "NODE_RANK")
    )
