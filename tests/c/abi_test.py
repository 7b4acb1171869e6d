#!/usr/bin/env python3
"""Compares what libmetactrl_c shows with the list that is kept: functions with their versions and declarations, the layout of
structs, the numbers behind names. What was in a release must stay as it is; additions are written down by

    tests/c/abi_test.py LIBRARY LAYOUT_PROGRAM --write
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STORED = ROOT / "tests" / "c" / "abi.txt"


def exported(library):
    """Every symbol that others can link with, as nm shows it: NAME@@VERSION, or NAME@VERSION of what only older programs call."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split() for line in text.splitlines()]
    # Versions are symbols themselves, and small letters are local.
    return sorted(fields[-1] for fields in symbols if len(fields) == 3 and fields[1].isupper() and fields[1] != "A")


def declared():
    """function -> its declaration in the header, in one line."""
    text = (ROOT / "include" / "metactrl" / "c.h").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    found = re.findall(r"METACTRL_C_(?:API|MUST_USE)\s+([^;{}#]*?\b(metactrl_\w+)\([^;]*\));", text)
    return {name: " ".join(declaration.split()) for declaration, name in found}


def unsaid_versions():
    """Functions with several versions whose newest is left to the linker: only some (mold) take the one that exports.map means."""
    folder, nodes = ROOT / "src" / "c", {}
    for version, members in re.findall(r"(METACTRL_\w+) \{(.*?)\}", (folder / "exports.map").read_text(encoding="utf-8"), re.S):
        for name in re.findall(r"\b(metactrl_\w+);", members):
            nodes.setdefault(name, []).append(version)
    sources = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.cc")))
    several = {name: versions[-1] for name, versions in nodes.items() if len(versions) > 1}
    wanted = {name: f".symver {name}, {name}@@@{newest}" for name, newest in several.items()}
    return [f"nothing says that whoever links today gets {name} of {several[name]}: write {line}" for name, line in wanted.items() if line not in sources]


def describe(library, layout):
    functions = declared()
    lines = []
    problems = []
    for symbol in exported(library):
        name, version = re.split("@@?", symbol)
        if name not in functions:
            problems.append(f"{symbol} is exported and not declared in metactrl/c.h")
        lines.append(f"function {version} {functions.get(name, name)}")
    shown = {symbol.partition("@")[0] for symbol in exported(library)}
    problems += [f"{name} is declared and not exported: add it to src/c/exports.map" for name in functions if name not in shown]
    lines += subprocess.run([layout], check=True, capture_output=True, text=True).stdout.splitlines()
    return lines, problems


def main():
    library, layout = sys.argv[1:3]
    lines, problems = describe(library, layout)
    if "--write" in sys.argv:
        STORED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stored = STORED.read_text(encoding="utf-8").splitlines()
    problems += unsaid_versions()
    problems += [f"no longer there, or changed: {line}" for line in stored if line not in lines]
    problems += [f"not in tests/c/abi.txt: {line}" for line in lines if line not in stored]
    for problem in problems:
        print(problem)
    print(f"{len(stored)} entries, {len(problems)} problems")
    return 1 if problems or not stored else 0


if __name__ == "__main__":
    sys.exit(main())
