"""What a user did wrong, in one sentence: what, where, and what to do about it."""


class InputError(ValueError):
    """Bad input. The message is the whole story: the command prints it and exits with code 2.

    Example:
        >>> raise InputError("labels.csv, row 7: the label is empty; drop the row")
        Traceback (most recent call last):
        ...
        crowdwise.errors.InputError: labels.csv, row 7: the label is empty; drop the row
    """


class LostProcess(InputError):
    """Another process of the job has ended: each that is left says so."""
