"""The reference of the command line: up to date, and no command or option without help."""

from docs.cli_reference import PAGE, every_command, page


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "docs/commands.md is stale: python -m docs.cli_reference"
    )


def test_every_command_and_option_has_help() -> None:
    silent = []
    for context in every_command():
        if not context.command.help:
            silent.append(context.command_path)
        silent += [
            f"{context.command_path}: {parameter.name}"
            for parameter in context.command.params
            if not parameter.help
        ]
    assert silent == []
