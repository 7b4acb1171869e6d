"""What can go wrong. Every error of the library is a `MetactrlError`; those about input carry every mistake with its place."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Optional, Sequence


@dataclass(frozen=True)
class Diagnostic:
    """One mistake or warning. Lines and columns count from 1; line 0 is the text as a whole."""

    severity: str
    file: str
    line: int
    column: int
    message: str
    hint: str

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line else "") + (f":{self.column}" if self.column else "")
        return f"{place}: {self.severity}: {self.message}" + (f"; {self.hint}" if self.hint else "")


def diagnostics_of(items: Sequence[dict]) -> "list[Diagnostic]":
    return [Diagnostic(**item) for item in items]


class MetactrlError(Exception):
    """`status` is the number in metactrl/c.h, `diagnostics` every mistake that was found."""

    status = 8

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)


class ArgumentError(MetactrlError, ValueError):
    """A call with arguments that cannot be."""

    status = 1


class InputError(MetactrlError, ValueError):
    """A task, format, vocabulary or option that is wrong; see `diagnostics`."""

    status = 2


class Stopped(MetactrlError):
    """A `Stop` said so."""

    status = 3


class LimitError(MetactrlError):
    """What the options allow of work or memory was not enough."""

    status = 4


class OutOfMemory(MetactrlError, MemoryError):
    """There is no more memory."""

    status = 5


class TokenizerError(MetactrlError):
    """The tokenizer failed; its own exception is the `__cause__`."""

    status = 6


class BusyError(MetactrlError):
    """A decoder was used by two threads at a time."""

    status = 7


class InternalError(MetactrlError):
    """A bug; please report the message."""

    status = 8


class Infeasible(MetactrlError):
    """There is no plan, or none was found within the budget; `verdict` says which of the two."""

    def __init__(self, message: str, verdict: str) -> None:
        super().__init__(message)
        self.verdict = verdict


_KINDS = {
    kind.status: kind
    for kind in (ArgumentError, InputError, Stopped, LimitError, OutOfMemory, TokenizerError, BusyError, InternalError)
}


def make_error(status: int, message: str, details: Optional[str] = None) -> MetactrlError:
    """The exception for a status of the C interface."""
    diagnostics = diagnostics_of(json.loads(details)) if details else []
    return _KINDS.get(status, InternalError)(message or f"status {status}", diagnostics)
