"""docs/commands.md, written from the commands themselves: `python -m docs.cli_reference`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from crowdwise.cli.main import app

PAGE = Path(__file__).with_name("commands.md")
OPENING = """\
# Commands

Every command answers to `--help`; this page says the same, written from the code by
`python -m docs.cli_reference`. Bad input ends in one sentence and exit code 2.
"""


def commands(command: Any, context: typer.Context) -> Iterator[typer.Context]:
    """The context of every command below this one, groups before their members."""
    for name, child in sorted(getattr(command, "commands", {}).items()):
        if not child.hidden:
            below = typer.Context(child, info_name=name, parent=context)
            yield below
            yield from commands(child, below)


def every_command() -> list[typer.Context]:
    root = typer.main.get_command(app)
    return list(commands(root, typer.Context(root, info_name="crowdwise")))


def section(context: typer.Context) -> str:
    """One command: its name, how to call it, what it does, each argument and option."""
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [parameter.get_help_record(context) for parameter in command.params]
    blocks = [f"## {context.command_path}", f"    {usage}", *paragraphs(command.help or "")]
    options = [f"* `{names}` — {text}" for names, text in filter(None, records)]
    return "\n\n".join([*blocks, "\n".join(options)]).rstrip()


def paragraphs(text: str) -> Iterator[str]:
    """The help's paragraphs; one that calls the command is a block of code."""
    for paragraph in text.split("\n\n"):
        lines = [line.strip() for line in paragraph.strip("\b\n ").splitlines()]
        is_code = lines[:1] and lines[0].startswith("crowdwise ")
        yield "\n".join(f"    {line}" if is_code else line for line in lines)


def page() -> str:
    return "\n\n".join([OPENING.rstrip(), *map(section, every_command())]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
