#!/usr/bin/env python3
"""A world for `metactrl run --world`: the robot's table of domains/tabletop, in plain Python.

    metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/boxed_tools.pddl --guidance search \\
        --world 'python3 examples/robot_world.py --fail 0.2 --unsure pliers=box_1:0.6,box_2:0.4'

It speaks the protocol of docs/closed-loop.md: one JSON object a line on standard input, one on standard output, nothing
else there; anything for a person goes to standard error. Copy it, keep `serve`, and put your robot behind `Table`.

    --fail P               an action fails with probability P
    --unsure X=A:P,B:Q     until X is looked at (or touched), say that it is inside A with probability P or B with Q;
                           where it really is, is drawn from these probabilities
    --ends-after N         leave without a word after N messages (to see what metactrl does)
"""

import argparse
import json
import random
import sys


class Table:
    """The rules of domains/tabletop/domain.pddl, written a second time. Facts are tuples: ("on", "cup", "table")."""

    def __init__(self, hello, options):
        self.fixed = {fact(text) for text in hello["fixed_facts"]}
        self.facts = {fact(text) for text in hello["initial_facts"]}
        self.objects = hello["objects"]
        self.random = random.Random(hello["seed"])
        self.fail = options.fail
        self.unsure = {}
        for thing, places in options.unsure:
            self.unsure[thing] = places
            place = self.random.choices([p for p, _ in places], [w for _, w in places])[0]
            self.facts = {f for f in self.facts if not (f[0] in ("on", "inside") and f[1] == thing)}
            self.facts.add(("inside", thing, place))

    # --- what is

    def has(self, *atom):
        return atom in self.facts or atom in self.fixed

    def holders(self, x):
        """What x rests on or in, directly."""
        return [f[2] for f in self.facts if f[0] in ("on", "inside") and f[1] == x]

    def supported(self, x, y):
        return any(z == y or self.supported(z, y) for z in self.holders(x))

    def shut_in(self, x):
        for f in self.facts:
            if f[0] == "inside" and f[1] == x and self.has("openable", f[2]) and not self.has("open", f[2]):
                return True
        return any(self.shut_in(y) for y in self.holders(x))

    def holding(self, kind):
        return [f[1] for f in self.facts if f[0] == "held" and self.has(kind, f[1])]

    # --- what is done; each returns (may it be done, facts to delete, facts to add)

    def open(self, x):
        ok = self.has("openable", x) and not self.has("open", x) and self.has("hand-empty") and not self.shut_in(x)
        return ok, [], [("open", x)]

    def close(self, x):
        ok = self.has("openable", x) and self.has("open", x) and self.has("hand-empty") and not self.shut_in(x)
        return ok, [("open", x)], []

    def grab(self, x):
        covered = any(f[0] == "on" and f[2] == x for f in self.facts)
        ok = self.has("graspable", x) and self.has("hand-empty") and not self.shut_in(x) and not covered
        left = [f for f in self.facts if f[0] in ("on", "inside") and f[1] == x]
        return ok, left + [("hand-empty",)], [("held", x)]

    def putin(self, x, y):
        lid = not self.has("openable", y) or self.has("open", y)
        ok = self.has("container", y) and self.has("held", x) and x != y and lid
        ok = ok and not self.shut_in(y) and not self.supported(y, x)
        return ok, [("held", x)], [("inside", x, y), ("hand-empty",)]

    def puton(self, x, y):
        ok = self.has("surface", y) and self.has("held", x) and x != y
        ok = ok and not self.shut_in(y) and not self.supported(y, x)
        return ok, [("held", x)], [("on", x, y), ("hand-empty",)]

    def spray(self, y):
        return bool(self.holding("sprayer")) and not self.has("held", y) and not self.shut_in(y), [], [("soaped", y)]

    def soak(self, y):
        cloths = self.holding("cloth")
        return self.has("water", y) and bool(cloths) and not self.shut_in(y), [], [("soaked", c) for c in cloths]

    def clean(self, y):
        wet = any(self.has("soaked", c) for c in self.holding("cloth"))
        return self.has("soaped", y) and wet and not self.has("held", y) and not self.shut_in(y), [], [("clean", y)]

    def toggleon(self, y):
        return self.has("switchable", y) and not self.has("switched-on", y), [], [("switched-on", y)]

    # --- what is asked

    def execute(self, action, arguments):
        ok, deleted, added = getattr(self, action)(*arguments)
        if not ok:
            return {"done": False, "message": "that is not possible here"}
        if self.random.random() < self.fail:
            return {"done": False, "message": "the gripper missed"}
        self.facts -= set(deleted)
        self.facts |= set(added)
        for x in arguments:
            self.unsure.pop(x, None)  # touched: now it is known
        return {"done": True}

    def observe(self):
        seen = []
        for atom in sorted(self.facts):
            if atom[0] == "inside" and atom[1] in self.unsure:
                alternatives = [
                    {"facts": [text(("inside", atom[1], place))], "p": p} for place, p in self.unsure[atom[1]]
                ]
                seen.append({"one_of": alternatives})
            else:
                seen.append(text(atom))
        return {"facts": seen}

    def look(self, thing):
        self.unsure.pop(thing, None)
        return {"facts": [text(atom) for atom in sorted(self.facts) if len(atom) > 1 and atom[1] == thing]}


def fact(string):
    return tuple(string.strip("()").split())


def text(atom):
    return "(" + " ".join(atom) + ")"


def serve(options):
    table = None
    for number, line in enumerate(sys.stdin):
        if options.ends_after is not None and number >= options.ends_after:
            return
        request = json.loads(line)
        kind = request["type"]
        if kind == "hello":
            table = Table(request, options)
            answer = {"protocol": 1, "look": True}
        elif kind == "observe":
            answer = table.observe()
        elif kind == "look":
            answer = table.look(request["object"])
        elif kind == "execute":
            answer = table.execute(request["action"], request["arguments"])
        elif kind == "end":
            print("the run ended: " + request["end"], file=sys.stderr)
            return
        else:
            answer = {"error": "a message of an unknown type: " + kind}
        answer["id"] = request["id"]
        print(json.dumps(answer), flush=True)


def unsure(argument):
    thing, _, places = argument.partition("=")
    return thing, [(place.split(":")[0], float(place.split(":")[1])) for place in places.split(",")]


def main():
    parser = argparse.ArgumentParser(description="a world for metactrl run: the robot's table")
    parser.add_argument("--fail", type=float, default=0)
    parser.add_argument("--unsure", type=unsure, action="append", default=[])
    parser.add_argument("--ends-after", type=int)
    serve(parser.parse_args())


if __name__ == "__main__":
    main()
