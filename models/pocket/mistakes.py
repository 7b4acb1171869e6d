"""How often, and in which ways, the plans that the model learns from are wrong.

A model that learned from search alone would be right too often to show anything. So a share of the plans (RATES, per module) is
spoiled. Most mistakes are habits: whether one is made, and which, follows from what the task is about (a hash of its first words),
the way a model is wrong about the same things time and again; greedy decoding would hide mistakes that are spread evenly. The
others fall anywhere.

Mistakes in the plan (reference_plan.h): skip, forget, order, object, action, grab, repeat. Mistakes in the text, made here:

    number       an object with another number
    hallucinate  an object that is not there
    broken       text that is no plan: cut off, or a bracket is missing
"""
import random
import re

# Share of examples for which a mistake is asked for. Some plans cannot be spoiled as asked, and some survive it.
RATES = {"vh-as": 0.78, "vh-sd": 0.76, "beh-as": 0.04, "beh-sd": 0.03, "wah": 0.5, "wah-goal": 0.08, "pddl": 0.25, "goal": 0.0}
HABITS = 0.7  # of the mistakes
KINDS = [("skip", 30), ("forget", 22), ("order", 10), ("object", 12), ("action", 5), ("grab", 8), ("repeat", 4), ("number", 6), ("hallucinate", 5),
         ("broken", 3)]
IN_TEXT = ("number", "hallucinate", "broken")
STRANGERS = "lamp vase ladder teddy umbrella helmet carpet mirror flute tent saddle lantern".split()


def pick(rng):
    return rng.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS])[0]


def choose(rng, seed, module, habit, rate):
    """(kind, seed of the mistake), or ("", 0)."""
    own = random.Random(f"{seed} habit {module} {habit}")
    if own.random() < rate * HABITS:
        return pick(own), own.randrange(1 << 31)
    rest = rate * (1 - HABITS) / (1 - rate * HABITS)
    return (pick(rng), rng.randrange(1 << 31)) if rng.random() < rest else ("", 0)


def spoil_text(kind, seed, plan):
    rng = random.Random(seed)
    if kind == "number":
        numbers = list(re.finditer(r"(?<=[._\"])\d+", plan))
        if numbers:
            at = rng.choice(numbers)
            others = [n.group() for n in numbers if n.group() != at.group()]
            other = rng.choice(others) if others and rng.random() < 0.6 else str(int(at.group()) + rng.choice([1, 1, 10]))
            return plan[: at.start()] + other + plan[at.end():]
    elif kind == "hallucinate":
        names = list(re.finditer(r"(?<=[\"( ])[a-z][a-z_]+(?=[_.]\d|\", \"\d|\)|,)", plan))
        if names:
            at = rng.choice(names)
            return plan[: at.start()] + rng.choice(STRANGERS) + plan[at.end():]
    elif kind == "broken":
        if rng.random() < 0.5:
            return plan[: rng.randrange(len(plan) // 2, len(plan))]
        marks = [i for i, c in enumerate(plan) if c in "\"[](){},"]
        if marks:
            at = rng.choice(marks)
            return plan[:at] + plan[at + 1:]
    return plan


def spoil_goals(kind, seed, goals, names):
    """Goals read from an instruction: one is left out, or names something else that is there."""
    rng = random.Random(seed)
    goals = list(goals)
    at = rng.randrange(len(goals))
    if kind in ("skip", "forget") and len(goals) > 1:
        del goals[at]
    elif kind in ("object", "action", "grab"):
        goals[at] = re.sub(r"\(\w+", lambda _: "(" + rng.choice(names), goals[at])
    elif kind == "order" and len(goals) > 1:
        rng.shuffle(goals)
    elif kind == "repeat":
        goals.insert(at, goals[at])
    return goals
