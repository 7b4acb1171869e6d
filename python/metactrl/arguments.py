"""Numbers that callers give. ctypes would cut off what does not fit, and take True for 1; here each is what it says, or an ArgumentError that names it."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .errors import ArgumentError

UINT32 = 2**32 - 1
UINT64 = 2**64 - 1


def _shown(value: Any) -> str:
    """Short, whatever it is."""
    text = f"a number of {value.bit_length()} bits" if isinstance(value, int) and value.bit_length() > 128 else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _is_truth(value: Any) -> bool:
    """True, False, or one of NumPy's or torch's."""
    return isinstance(value, bool) or str(getattr(value, "dtype", "")) in ("bool", "torch.bool")


def whole(name: str, value: Any, least: int = 0, most: int = UINT64) -> int:
    """A whole number within bounds: of Python, NumPy, whatever is one and nothing else."""
    number = None
    if not _is_truth(value) and hasattr(value, "__index__"):
        try:
            number = value.__index__()
        except (TypeError, ValueError):  # an array, or a truth value that is not Python's
            pass
    if number is None:
        raise ArgumentError(f"{name} must be a whole number, and is {_shown(value)}")
    if not least <= number <= most:
        raise ArgumentError(f"{name} must be between {least} and {most}, and is {_shown(number)}")
    return int(number)


def real(name: str, value: Any) -> float:
    """A number that a float can hold. Texts are none, even where float() would read them."""
    try:
        if _is_truth(value) or isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise ArgumentError(f"{name} must be a number, and is {_shown(value)}") from None
    if number != number:
        raise ArgumentError(f"{name} must be a number, and is NaN")
    return number


def set_all(options: Any, kind: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Limits and budgets by their names."""
    for name, value in given.items():
        if name not in known:
            raise ArgumentError(f"there is no {kind} {name}; known: {', '.join(known)}")
        setattr(options, name, whole(name, value))
