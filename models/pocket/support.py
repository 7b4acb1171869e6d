#!/usr/bin/env python3
"""What the scripts share: options with ranges, files that are replaced as a whole, packages that may be missing. Standard library only.

    support.py numpy torch gpu      says in one line what is missing, and ends with 1; `make` asks before its first stage
"""
import argparse
import contextlib
import importlib.util
import os
import sys


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; options have no abbreviations."""

    def __init__(self, description):
        super().__init__(description=description, allow_abbrev=False)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; --help lists the options\n")


def number(kind, low, high):
    """The type of an option: a number from low to high."""

    def parse(text):
        with contextlib.suppress(ValueError):
            value = kind(text)
            if low <= value <= high:  # so no nan
                return value
        raise argparse.ArgumentTypeError(f"'{text}' is not a {'whole ' if kind is int else ''}number from {low:g} to {high:g}")

    return parse


@contextlib.contextmanager
def replacing(*files):
    """Names to write to; what is written there takes the place of the files when all went well. Until then they stay as they are."""
    names = [file + ".tmp" for file in files]
    try:
        yield names
        for name, file in zip(names, files):
            os.replace(name, file)
    except BaseException:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.remove(name)
        raise


def missing(packages):
    """One line about what has to be installed, or nothing."""
    absent = [name for name in packages if name != "gpu" and not importlib.util.find_spec(name)]
    if absent:
        called = {"numpy": "NumPy", "torch": "PyTorch"}
        return (f"{sys.executable} has no {' and no '.join(called.get(name, name) for name in absent)}; install it with "
                f"`apt install {' '.join('python3-' + name for name in absent)}` (Debian) or `pip install {' '.join(absent)}`")
    if "gpu" in packages:
        import torch
        if not torch.cuda.is_available():
            return "PyTorch finds no GPU to train on; `--device cpu` trains without one, slowly (for make: --train-options \"--device cpu\")"
    return ""


def need(*packages):
    """Ends the program with one line where one of them is missing."""
    message = missing(packages)
    if message:
        raise SystemExit(f"{os.path.basename(sys.argv[0])}: {message}")


def load_weights(file, device, vocabulary, other):
    """model.pt or training.pt, if the vocabulary with this digest is theirs; `other` says whose vocabulary that is."""
    import torch
    script = os.path.basename(sys.argv[0])
    try:
        saved = torch.load(file, map_location=device)
    except OSError as error:
        raise SystemExit(f"{script}: {file}: {error.strerror}; train.py writes it (`make train`)")
    except Exception as error:  # torch.load has no error of its own
        raise SystemExit(f"{script}: {file}: is no file of train.py: {str(error).splitlines()[0] if str(error) else 'it is empty'}")
    if not isinstance(saved, dict) or saved.get("vocabulary_sha256") != vocabulary:
        raise SystemExit(f"{script}: {file} was trained with another vocabulary than {other}")
    return saved


if __name__ == "__main__":
    text = missing(sys.argv[1:])
    if text:
        raise SystemExit(f"make: {text}")
