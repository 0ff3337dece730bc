"""`crowdwise methods`: what there is to train with."""

from typing import Annotated

import typer


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """List the methods, one line about each; installed packages may add theirs.

    crowdwise methods
    """
    import json

    from crowdwise.methods.registry import summaries

    lines = summaries()
    if as_json:
        typer.echo(json.dumps(lines, indent=1))
        return
    width = max(len(name) for name in lines)
    for name, line in lines.items():
        typer.echo(f"{name:{width}}  {line}")
