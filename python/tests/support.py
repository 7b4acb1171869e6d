"""What the tests share: tasks, tokenizers and engines that try to break things. A library is found as the package finds it."""

import importlib.util
import pathlib
import random
import sys
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import metactrl  # noqa: E402

TABLETOP = ROOT / "domains" / "tabletop"
PACKAGE = pathlib.Path(metactrl.__file__).parent


def needs(module, name):
    """Skips a test where a package is not installed."""
    return unittest.skipUnless(importlib.util.find_spec(module), f"{name} is not installed")


def task(problem="dishwasher"):
    return metactrl.Task.load(TABLETOP / "domain.pddl", TABLETOP / f"{problem}.pddl")


def problems():
    return sorted(path.stem for path in TABLETOP.glob("*.pddl") if path.stem != "domain")


def byte_vocabulary(size=259):
    """Every byte is a token; 256 and 257 end the turn, what is behind them means nothing."""
    tokens = [bytes([byte]) for byte in range(256)] + [b""] * (size - 256)
    return metactrl.Vocabulary(tokens, [256, 257], lambda text: list(text.encode()), name="bytes")


def word_vocabulary(text, seed):
    """Bytes, and pieces of this text, cut at random: the longest that fits comes first."""
    draw = random.Random(seed)
    tokens = [bytes([byte]) for byte in range(256)]
    words = text.replace("(", " ").replace(")", " ").replace("\n", " ").split()
    pieces = set()
    for _ in range(80):
        word = draw.choice(words)
        begin = draw.randrange(len(word))
        pieces.add(word[begin : begin + draw.randint(2, 7)].encode())
    tokens += sorted(piece for piece in pieces if len(piece) > 1)
    return metactrl.Vocabulary(tokens + [b""], [len(tokens)])


class Work:
    """What a piece of work looks at: lines of the package that are run, those of its loops once for each item, and token ids that are handed to the library."""

    def __enter__(self):
        self.lines = self.ids = 0
        self._handed = unittest.mock.patch.object(metactrl.decoding, "id_array", self._count(metactrl.decoding.id_array))
        self._handed.start()
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)
        self._handed.stop()

    def _count(self, id_array):
        def counted(values):
            ids, count = id_array(values)
            self.ids += count
            return ids, count

        return counted

    def _trace(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(str(PACKAGE)):
            return None
        self.lines += event == "line"
        return self._trace


def plan_model():
    """A model of plans of the tabletop domain, with random parameters."""
    return metactrl.Hmm(ROOT / "python" / "tests" / "tabletop.hmm")


def token_model():
    """One of the tokens of byte_vocabulary(), with random parameters."""
    return metactrl.Hmm(ROOT / "python" / "tests" / "bytes.hmm")


NAN, INF = float("nan"), float("inf")


def hostile_row(size, draw):
    """Logits as no model should give them."""
    kind = draw.randrange(6)
    if kind == 0:
        return [NAN] * size
    if kind == 1:
        return [INF] * size
    if kind == 2:
        return [-INF] * size
    if kind == 3:
        return [draw.choice((NAN, INF, -INF, 0.0, 1e38, -1e38)) for _ in range(size)]
    row = [draw.uniform(-5, 5) for _ in range(size)]
    if kind == 4:
        row[draw.randrange(size)] = 1e30
    return row


# --- what the attacks share

LAMPS = """(define (domain lamps) (:requirements :strips :typing :negative-preconditions) (:types lamp)
 (:predicates (lit ?l - lamp) (power))
 (:action switch-on :parameters () :precondition (not (power)) :effect (power))
 (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l))) :effect (lit ?l))
 (:action shut :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l))))"""


def lamps_text(draw):
    names = [f"lamp{i}" for i in range(draw.randint(1, 6))]
    lit = [f"(lit {name})" for name in names if draw.random() < 0.3]
    goal = [f"(lit {name})" for name in draw.sample(names, draw.randint(1, len(names)))]
    if draw.random() < 0.2:
        goal.append(f"(not (lit {draw.choice(names)}))")
    return f"(define (problem p) (:domain lamps) (:objects {' '.join(names)} - lamp) (:init {' '.join(lit)}) (:goal (and {' '.join(goal)})))"


def lamps(draw):
    return metactrl.Task(LAMPS, lamps_text(draw))


class Wrong(Exception):
    """What may never be."""


def must_refuse(call, *kinds):
    try:
        call()
    except kinds:
        return
    raise Wrong(f"accepted what must be refused, where {kinds} was expected")


def judge(constraint, tokens, text):
    """Twice: the constraint's own look at the tokens, and the reference semantics' at the text."""
    check = constraint.check(tokens)
    if not check:
        raise Wrong(f"not an answer: {text!r}: {check.reason}")
    if not constraint.task.validate(text, constraint.format):
        raise Wrong(f"not a plan of {constraint.task.name}: {text!r}")
    return len(tokens), len(check.actions)
