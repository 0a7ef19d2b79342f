"""What may go wrong, by what whoever asked can do about it. Every error of Clara's is of one of four kinds.

The message is for a person: what is wrong, where, and the remedy. A class whose message never varies is raised bare: its
message is then its docstring. The command line gives an error's message and its `exit_code`, the web its `status`.
"""

from inspect import cleandoc
from typing import ClassVar, Final


class ClaraError(Exception):
    """The root. What derives from it alone is a fault of the program: it is shown with its traceback, not as a message."""

    exit_code: ClassVar[int] = 2
    """What a command ends with."""
    http_status: ClassVar[int] = 500
    """What a request is answered with, in HTTP."""

    def __str__(self) -> str:
        """Give the message."""
        return super().__str__() or cleandoc(type(self).__doc__ or "")


class Unavailable(ClaraError):
    """Something that is needed cannot be asked at this moment, so nothing is known about what it holds."""

    http_status = 503


class NotFound(ClaraError):
    """What was asked for is not there. The message says where to look for what is."""

    http_status = 404


class Refused(ClaraError):
    """What was asked can be meant and is not done: something else is at it, or a rule forbids it."""

    http_status = 409


class Invalid(ClaraError):
    """What was given cannot be meant. The message names each place and the remedy; nothing was done."""

    http_status = 400


# What whoever asked can do something about: these are told as a message, anything else with its traceback.
MENDABLE: Final = (Unavailable, NotFound, Refused, Invalid)
