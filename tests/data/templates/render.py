#!/usr/bin/env python3
"""Writes expected.tsv: what Python's Jinja makes of real chat templates.

    scripts/llama --templates
    tests/data/templates/render.py ~/.cache/metactrl/llama.cpp-*-templates

One line for every template and every case of cases.tsv: the file, the case, how many bytes are written and their FNV-1a
hash, or `error`. The environment is the one that chat templates are written for: blanks as trim_blocks and lstrip_blocks
have them, loop controls, {% generation %}, raise_exception, strftime_now (2026-11-18), tojson without escapes. Needs the
package python3-jinja2 (3.1).
"""
import datetime
import json
import pathlib
import sys

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = lambda form: datetime.datetime(2026, 11, 18).strftime(form)
    return env


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    here = pathlib.Path(__file__).parent
    env = environment()
    cases = [line.split("\t", 1) for line in (here / "cases.tsv").read_text().splitlines()]
    with open(here / "expected.tsv", "w") as out:
        for file in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja")):
            for name, variables in cases:
                try:
                    text = env.from_string(file.read_text()).render(**json.loads(variables)).encode()
                    result = f"{len(text)}\t{fnv(text):016x}"
                except Exception:  # of whatever kind a template makes
                    result = "error"
                out.write(f"{file.name}\t{name}\t{result}\n")


main()
