"""Prompts of BEHAVIOR's two modules (beh-as, beh-sd): chores drawn at random.

Names and categories come from BEHAVIOR's taxonomy (domains/behavior-actions/taxonomy.tsv). A chore asks for something that the
categories' abilities allow: things carried into, onto, next to, under others, cleaned, sliced, switched on, shut; named one by one
or by a quantifier over a category. Whether it can be done is for the search to find out.

A thing's name need not be that of its category: a quarter of the classes in a prompt have another name, out of the whole taxonomy or
made up. So a name must be copied letter by letter from the prompt; with names that always go with their categories the model learns
those pairs instead, and writes a similar thing's name for one that it has rarely seen.
"""
import os

import templates
import words

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TAXONOMY = os.path.join(ROOT, "domains", "behavior-actions", "taxonomy.tsv")

FOOD_KINDS = {"fruit.n.01", "vegetable.n.01", "food.n.02"}
SMALL_KINDS = FOOD_KINDS | {"clothing.n.01", "tableware.n.01", "tool.n.01", "book.n.02", "decoration.n.01", "toiletry.n.01",
                            "plaything.n.01", "writing_implement.n.01", "cutlery.n.02", "food.n.01", "beverage.n.01", "flavorer.n.01",
                            "implement.n.01", "container.n.01", "fabric.n.01", "footwear.n.02", "commodity.n.01", "plant.n.02"}
MORE_SMALL = ("candle ball envelope newspaper notebook soap shampoo toothpaste toothbrush hairbrush comb cup mug teacup plate saucer "
              "spoon teaspoon tablefork chopstick egg cookie cupcake sandal sock glove headset sunglass necklace ribbon wreath "
              "battery calculator mouse remote_control stapler modem jar vase kettle teapot frying_pan saucepan hammer "
              "scissors key tape").split()
OPEN_BINS = "basket bucket bowl casserole tray crate hamper tote basin platter".split()
SHUT_BINS = "carton backpack briefcase duffel_bag suitcase package jar chest".split()
CABINETS = "bottom_cabinet bottom_cabinet_no_top top_cabinet fridge dishwasher microwave oven washer dryer freezer".split()
TABLES = ("breakfast_table coffee_table console_table desk countertop shelf sofa bed bench stool stand armchair straight_chair "
          "pedestal_table worktable bookcase").split()
CLEANABLE = "bathtub shower toilet stove grill window door car pool floor_lamp highchair microwave oven".split()
DEVICES = "printer scanner alarm table_lamp floor_lamp radio television modem fan laptop".split()
CLEANERS = "rag dishtowel hand_towel scrub_brush".split()
SOAPS = "detergent soap shampoo".split()
KNIVES = "carving_knife table_knife".split()
ROOMS = "bathroom bedroom corridor dining_room garage home_office kitchen living_room storage_room utility_room".split()
# What one word means, where it means several things.
USUAL = {"carton": "carton.n.02", "table_lamp": "lamp.n.02", "floor_lamp": "lamp.n.02", "breakfast_table": "table.n.02",
         "coffee_table": "table.n.02", "straight_chair": "chair.n.01", "frying_pan": "pan.n.01", "saucepan": "pan.n.01"}


def load_taxonomy():
    synsets = {}
    with open(TAXONOMY) as file:
        for line in file:
            if not line.startswith("#"):
                synset, parents, abilities, _, categories = (line.rstrip("\n").split("\t") + [""] * 5)[:5]
                synsets[synset] = (parents.split(","), set(abilities.split(",")), categories.split(",") if categories else [])
    return synsets


SYNSETS = load_taxonomy()


def ancestors(synset):
    found, open_ = set(), [synset]
    while open_:
        for parent in SYNSETS.get(open_.pop(), ([], set(), []))[0]:
            if parent and parent not in found:
                found.add(parent)
                open_.append(parent)
    return found


def plain(name):
    return name and all(c.islower() or c == "_" for c in name) and not name.startswith("half_") and not name.startswith("container_")


SYNSET_OF = {}
for _synset in sorted(SYNSETS):
    for _name in SYNSETS[_synset][2]:
        if plain(_name) and ("'" not in _synset):
            SYNSET_OF.setdefault(_name, _synset)
SYNSET_OF.update({name: synset for name, synset in USUAL.items() if synset in SYNSETS})


def known(names):
    return [name for name in names if name in SYNSET_OF]


def below(kinds):
    return sorted(name for name, synset in SYNSET_OF.items() if kinds & ancestors(synset))


FOOD = below(FOOD_KINDS)
SMALL = sorted(set(below(SMALL_KINDS)) | set(known(MORE_SMALL)))


def able(name, ability):
    return ability in SYNSETS[SYNSET_OF[name]][1]


SLICEABLE = [name for name in FOOD if able(name, "sliceable")]
# What does not get dirty has no dirt that a plan could remove, whatever the prompt says.
GETS = {"stained": "stainable", "dusty": "dustyable"}
ALL_NAMES = sorted(SYNSET_OF)


def invented(rng):
    """A name that no taxonomy has: of one or two parts, each made up or a word of another name."""
    parts = []
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.4:
            parts.append(rng.choice(rng.choice(ALL_NAMES).split("_")))
        else:
            parts.append("".join(rng.choice(words.ONSETS) + rng.choice(words.VOWELS) + rng.choice(words.CODAS) for _ in range(rng.choice([1, 2, 2]))))
    return "_".join(parts)


DEVICES = [name for name in known(DEVICES) if able(name, "toggleable")]
CABINETS = [name for name in known(CABINETS) if able(name, "openable")]


class Thing:
    """`name`: what it is; `called`: what the prompt calls it."""

    def __init__(self, name, called, number, synset):
        self.name, self.called, self.number, self.synset = name, called, number, synset
        self.spelled = f"{called}_{number}"


# --- conditions: ("inside", a, b), ("not", c), ("and", c, ...), ("forall", synset, c), ("forn", n, synset, c), ...

QUANTIFIERS = {"forall": 1, "exists": 1, "forn": 1, "forpairs": 2}


def flat(condition):
    """As action sequencing writes it: ['forall', 'shoe.n.01', '-', 'shoe.n.01', 'not', 'dusty', 'shoe.n.01']."""
    head, *rest = condition
    parts = [head]
    if head in QUANTIFIERS:
        if head == "forn":
            parts.append(str(rest.pop(0)))
        for _ in range(QUANTIFIERS[head]):
            synset = rest.pop(0)
            parts += [synset, "-", synset]
    for part in rest:
        parts += flat(part) if isinstance(part, tuple) else [part.spelled if isinstance(part, Thing) else part]
    return parts


def underscored(synset):
    return "_".join(synset.rsplit(".", 2))


def bracketed(condition, nested=False):
    """As subgoal decomposition writes it: forall(shoe_n_01, (not dusty(shoe_n_01)))."""
    head, *rest = condition
    if head in QUANTIFIERS:
        parts = [str(rest.pop(0))] if head == "forn" else []
        parts += [underscored(rest.pop(0)) for _ in range(QUANTIFIERS[head])]
        return f"{head}({', '.join(parts)}, {bracketed(rest[0], True)})"
    if head in ("and", "or", "not"):
        parts = [bracketed(part, True) for part in rest]
        text = f"not {parts[0]}" if head == "not" else f" {head} ".join(parts)
        return f"({text})" if nested else text
    arguments = [f"{x.called}.{x.number}" if isinstance(x, Thing) else underscored(x) for x in rest]
    return f"{head.replace('toggled_on', 'toggled.on')}({', '.join(arguments)})"


class Chores:
    def __init__(self, rng):
        self.rng = rng
        self.things, self.facts, self.goals, self.titles = [], [], [], []
        # Things are counted class by class from 0, or all together from some number on.
        self.number = rng.choice([None, rng.randrange(30, 150)])
        self.used = set()
        self.names = {}  # what a class is called in this prompt
        self.floor = self.add(f"room_floor_{rng.choice(ROOMS)}", "floor.n.01", number=0)
        self.places = []
        self.has_cleaner = False

    def chance(self, p):
        return self.rng.random() < p

    def call(self, name):
        """What the prompt calls a class."""
        if name not in self.names:
            called = name
            if not name.startswith("room_floor_") and self.chance(0.25):
                called = self.rng.choice(ALL_NAMES) if self.chance(0.5) else invented(self.rng)
            self.names[name] = name if called in self.names.values() else called
        return self.names[name]

    def add(self, name, synset=None, number=None, fixed=False):
        called = self.call(name)
        if number is None:
            if fixed:
                number = self.rng.randrange(0, 100)
                while (called, number) in self.used:
                    number = self.rng.randrange(0, 100)
            elif self.number is None:
                number = sum(thing.called == called for thing in self.things)
                while (called, number) in self.used:
                    number += 1
            else:
                while (called, self.number) in self.used:
                    self.number += 1
                number, self.number = self.number, self.number + 1
        thing = Thing(name, called, number, synset or SYNSET_OF[name])
        self.used.add((called, number))
        self.things.append(thing)
        return thing

    def furniture(self, names):
        fitting = [t for t in self.places if t.name in names]
        if fitting and self.chance(0.5):
            return self.rng.choice(fitting)
        place = self.add(self.rng.choice(known(names)), fixed=True)
        self.places.append(place)
        return place

    def cabinet(self):
        place = self.furniture(CABINETS)
        if ("open", place) not in self.facts and self.chance(0.12):
            self.facts.append(("open", place))
        return place

    def lay(self, thing):
        """Where a thing is at the start."""
        where = self.rng.random()
        if where < 0.35:
            self.facts.append(("onfloor", thing, self.floor))
        elif where < 0.7:
            self.facts.append(("ontop", thing, self.furniture(TABLES)))
        elif where < 0.97 or len(self.things) < 4:
            self.facts.append(("inside", thing, self.cabinet()))
        else:
            self.facts.append(("under", thing, self.furniture(TABLES)))

    def several(self, names=None, most=4):
        """Things of one class, or of different ones, laid about."""
        count = self.rng.randrange(1, most + 1)
        names = names or SMALL
        if self.chance(0.55):
            name = self.rng.choice(names)
            # Now and then the prompt speaks of a broader category.
            parents = [p for p in SYNSETS[SYNSET_OF[name]][0] if p in SYNSETS and "'" not in p]
            synset = self.rng.choice(parents) if parents and self.chance(0.12) else None
            things = [self.add(name, synset) for _ in range(count)]
        else:
            things = [self.add(self.rng.choice(names)) for _ in range(count)]
        together = self.chance(0.4)
        for thing in things:
            if together and thing is not things[0]:
                fact = next(f for f in self.facts if f[1] is things[0])
                self.facts.append((fact[0], thing, fact[2]))
            else:
                self.lay(thing)
        return things

    def goal(self, *conditions):
        self.goals += [c for c in conditions if c not in self.goals]

    def each(self, things, make):
        """The condition for every thing: one line each, or one line for the category where these are all there are."""
        synset = things[0].synset
        if all(t.synset == synset for t in things) and sum(t.synset == synset for t in self.things) == len(things) and self.chance(0.6):
            self.goal(("forall", synset, make(synset)))
        else:
            self.goal(*[make(thing) for thing in things])

    # --- chores

    def put_in(self):
        things = self.several()
        place = self.cabinet() if self.chance(0.5) else self.bin()
        self.each(things, lambda x: ("inside", x, place))
        self.titles.append(f"storing_{things[0].name}_away")
        if place.name in CABINETS and self.chance(0.25):
            self.goal(("not", ("open", place)))

    def bin(self):
        if self.chance(0.35):
            old = [t for t in self.things if t.name in OPEN_BINS]
            if old:
                return self.rng.choice(old)
        place = self.add(self.rng.choice(known(OPEN_BINS + SHUT_BINS)))
        self.facts.append(("onfloor", place, self.floor) if self.chance(0.6) else ("ontop", place, self.furniture(TABLES)))
        return place

    def put_somewhere(self):
        things = self.several()
        relation = self.rng.choice(["ontop", "ontop", "ontop", "nextto", "nextto", "onfloor", "under"])
        place = self.floor if relation == "onfloor" else self.furniture(TABLES)
        if relation == "nextto" and self.chance(0.4):
            place = self.bin()
        self.each(things, lambda x: (relation, x, place))
        self.titles.append(f"arranging_{things[0].name}s")

    def pairs(self):
        """Each of some things goes with one of as many others."""
        count = self.rng.choice([1, 2, 2, 3])
        bowls, items = self.rng.choice(known(OPEN_BINS + ["plate"])), self.rng.choice(SMALL)
        if SYNSET_OF[bowls] == SYNSET_OF[items] or any(t.name in (bowls, items) for t in self.things):
            return self.put_in()
        homes = [self.add(bowls) for _ in range(count)]
        things = [self.add(items) for _ in range(count)]
        for thing in homes + things:
            self.lay(thing)
        a, b = things[0].synset, homes[0].synset
        relation = "ontop" if bowls in ("plate", "tray", "platter") else "inside"
        order = (b, a) if self.chance(0.4) else (a, b)
        self.goal(("forpairs", *order, (relation, a, b)))
        self.titles.append(f"sharing_out_{items}")

    def share(self):
        """So many here, so many there."""
        name = self.rng.choice(SMALL)
        if any(t.synset == SYNSET_OF[name] for t in self.things):
            return self.put_somewhere()
        things = [self.add(name) for _ in range(self.rng.choice([2, 3, 3, 4]))]
        for thing in things:
            self.lay(thing)
        first = self.rng.randrange(1, len(things))
        for count in (first, len(things) - first):
            self.goal(("forn", count, things[0].synset, ("ontop", things[0].synset, self.furniture(TABLES))))
        self.titles.append(f"spreading_{name}_around")

    def some_place(self):
        """In one of the cabinets, whichever; not together with something else."""
        name = self.rng.choice(known(["bottom_cabinet", "top_cabinet"]) + known(["jar", "basket", "carton"]))
        if any(t.name == name for t in self.things):
            return self.put_in()
        homes = [self.add(name, fixed=name in CABINETS) for _ in range(self.rng.choice([1, 2, 2]))]
        for home in homes:
            if name not in CABINETS:
                self.lay(home)
        things = self.several(most=2)
        synset = homes[0].synset
        conditions = [("inside", thing, synset) for thing in things]
        if len(homes) > 1:
            other = self.several(most=1)[0]
            conditions.append(("not", ("inside", other, synset)))
        self.goal(("exists", synset, ("and", *conditions) if len(conditions) > 1 else conditions[0]))
        self.titles.append(f"sorting_{things[0].name}s")

    def clean(self):
        dirts = [self.rng.choice(["stained", "dusty"])] if self.chance(0.8) else ["stained", "dusty"]
        dirty = lambda names: [name for name in known(names) if all(able(name, GETS[dirt]) for dirt in dirts)]
        if self.chance(0.35):
            things = [self.furniture(dirty(CLEANABLE + TABLES + CABINETS)) for _ in range(self.rng.choice([1, 1, 2]))]
            things = list(dict.fromkeys(things))
        else:
            things = self.several(names=dirty(SMALL), most=4)
        for dirt in dirts:
            for thing in things:
                if (dirt, thing) not in self.facts:
                    self.facts.append((dirt, thing))
            self.each(things, lambda x: ("not", (dirt, x)))
        if not self.has_cleaner:
            self.has_cleaner = True
            rag = self.add(self.rng.choice(known(CLEANERS)))
            self.lay(rag)
            if self.chance(0.5):
                self.facts.append(("not", ("soaked", rag)))
            if self.chance(0.35):
                self.lay(self.add(self.rng.choice(known(SOAPS))))
            if self.chance(0.9):
                self.places.append(self.add("sink", "sink.n.01", fixed=True))
        self.titles.append(f"cleaning_the_{things[0].name}")

    def slice(self):
        things = self.several(names=SLICEABLE, most=2)
        for thing in things:
            if self.chance(0.6):
                self.facts.append(("not", ("sliced", thing)))
        if not any(t.name in KNIVES for t in self.things):
            self.lay(self.add(self.rng.choice(known(KNIVES))))
        self.each(things, lambda x: ("sliced", x))
        self.titles.append(f"cutting_{things[0].name}")

    def install(self):
        thing = self.add(self.rng.choice(known(DEVICES)))
        self.lay(thing)
        self.facts.append(("not", ("toggled_on", thing)))
        if self.chance(0.8):
            self.goal((self.rng.choice(["ontop", "ontop", "nextto", "under"]), thing, self.furniture(TABLES)))
        self.goal(("toggled_on", thing))
        self.titles.append(f"setting_up_{thing.name}")

    def shut(self):
        places = [self.furniture(CABINETS + ["window", "door"]) for _ in range(self.rng.choice([1, 1, 2, 3]))]
        for place in dict.fromkeys(places):
            if ("open", place) not in self.facts:
                self.facts.append(("open", place))
            self.goal(("not", ("open", place)))
        self.titles.append(f"shutting_the_{places[0].name}")

    CHORES = [("put_in", 26), ("put_somewhere", 26), ("pairs", 9), ("share", 4), ("some_place", 8), ("clean", 26), ("slice", 5),
              ("install", 6), ("shut", 4)]

    def fill(self):
        kinds = [name for name, weight in self.CHORES for _ in range(weight)]
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])):
            getattr(self, self.rng.choice(kinds))()
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2])):
            self.lay(self.add(self.rng.choice(SMALL)))
        if self.chance(0.3):
            self.rng.shuffle(self.facts)
        if self.chance(0.5):
            self.rng.shuffle(self.goals)
        self.things.remove(self.floor)
        self.rng.shuffle(self.things)
        self.things.insert(self.rng.randrange(len(self.things) + 1), self.floor)
        return self


def lines(items):
    return "".join(item + "\n" for item in items)


def actions_prompt(chores):
    return templates.fill(
        "behavior-actions",
        STATES=lines([str(flat(f)) for f in chores.facts] + [f"['onfloor', 'agent.n.01_1', '{chores.floor.spelled}']"]),
        GOALS=lines(str(flat(g)) for g in chores.goals),
        OBJECTS=lines(f"{{'name': '{t.spelled}', 'category': '{t.synset}'}}" for t in chores.things))


def subgoals_prompt(chores):
    return templates.fill(
        "behavior-subgoals",
        TITLE=chores.rng.choice(chores.titles),
        OBJECTS=lines(f"{{'name': '{t.called}.{t.number}', 'category': '{underscored(t.synset)}'}}" for t in chores.things),
        STATES=lines([bracketed(f) for f in chores.facts] + [f"onfloor(agent_n_01.1, {chores.floor.name}.{chores.floor.number})"]),
        GOALS=lines(bracketed(g) for g in chores.goals))


def draw(rng, module):
    """A request for examples.cc; "objects" and "habit" are for generate.py."""
    chores = Chores(rng).fill()
    prompt = actions_prompt(chores) if module == "beh-as" else subgoals_prompt(chores)
    first = flat(chores.goals[0])
    return {"module": module, "system": "" if module == "beh-as" else "behavior-subgoals-system", "prompt": prompt,
            "objects": [t.called for t in chores.things],
            "habit": " ".join(sorted({w.rsplit("_", 1)[0] for w in first if w != "-"})[:3])}
