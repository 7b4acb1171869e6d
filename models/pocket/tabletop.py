"""Scenes of the robot's table (domains/tabletop) and of the four small domains in domains/ beside this file, drawn at random.

A scene is a PDDL problem, a plan format to answer in, and, half of the time, an instruction in words. Objects have names from
words.py; one noun in twelve is a word that does not exist, so that names must be copied.
"""
import os
import re

import words

HERE = os.path.relpath(os.path.dirname(os.path.abspath(__file__)))
TABLETOP = "domains/tabletop"
FORMATS = [("pddl", 60), ("json", 11), ("sentences", 11), ("behavior-actions", 7), ("virtualhome-subgoals", 4),
           ("behavior-subgoals", 3), ("virtualhome-actions", 4)]
NUMBERED_FORMATS = ("virtualhome-actions", "virtualhome-subgoals", "behavior-subgoals")


def weighted(rng, table):
    return rng.choices([name for name, _ in table], [weight for _, weight in table])[0]


class Scene:
    """Objects with what is true of them, goals, and an instruction in words."""

    def __init__(self, rng, domain, all_numbered=False):
        self.rng = rng
        self.domain = domain
        self.numbered = all_numbered
        self.names = []
        self.facts = {}  # object -> its own facts, in order
        self.relations = []
        self.start = []
        self.goals = []
        self.texts = []

    def chance(self, p):
        return self.rng.random() < p

    def invent(self):
        syllable = lambda: self.rng.choice(words.ONSETS) + self.rng.choice(words.VOWELS) + self.rng.choice(words.CODAS)
        return "".join(syllable() for _ in range(self.rng.choice([1, 2, 2, 3])))

    def name(self, nouns, plain=0.45):
        """A new name: a noun, often with an adjective or a number, now and then a word that does not exist."""
        for attempt in range(50):
            noun = self.rng.choice(nouns) if not self.chance(0.08) else self.invent()
            if self.numbered:
                name = f"{noun}_{self.rng.choice([0, 1, 2, 3, self.rng.randrange(10, 100), self.rng.randrange(100, 1100)])}"
            elif self.chance(plain) and attempt < 5:
                name = noun
            else:
                look = self.rng.random()
                if look < 0.5:
                    name = f"{self.rng.choice(words.COLOURS)}_{noun}"
                elif look < 0.75:
                    name = f"{self.rng.choice(words.LOOKS)}_{noun}"
                else:
                    name = f"{noun}_{self.rng.randrange(1, 6)}"
            if name not in self.names:
                return name
        raise ValueError("no name is left")

    def add(self, nouns, *facts, plain=0.45):
        name = self.name(nouns, plain)
        self.names.append(name)
        self.facts[name] = [f"({fact} {name})" for fact in facts]
        return name

    def relate(self, *fact):
        self.relations.append(f"({' '.join(fact)})")

    def goal(self, *fact):
        self.goals.append(f"({' '.join(fact)})")

    def problem(self):
        order = list(self.names)
        if self.chance(0.35):
            self.rng.shuffle(order)
        facts = self.start + [fact for name in order for fact in self.facts[name]]
        relations = list(self.relations)
        if self.chance(0.3):
            self.rng.shuffle(relations)
        facts += relations
        if self.chance(0.08):
            self.rng.shuffle(facts)
        goals = list(self.goals)
        if self.chance(0.3):
            self.rng.shuffle(goals)
        return (f"(define (problem scene) (:domain {self.domain})\n(:objects {' '.join(order)})\n"
                f"(:init {' '.join(facts)})\n(:goal (and {' '.join(goals)})))\n")


def listed(names):
    spoken = ["the " + name.replace("_", " ") for name in names]
    return spoken[0] if len(spoken) == 1 else ", ".join(spoken[:-1]) + " and " + spoken[-1]


# --- tabletop ---------------------------------------------------------------------------------------------------------------


class Tabletop(Scene):
    def __init__(self, rng, all_numbered=False):
        super().__init__(rng, "tabletop", all_numbered)
        self.start = ["(hand-empty)"]
        self.table = None

    def item(self):
        nouns = self.rng.choice([words.FOOD, words.ITEMS, words.ITEMS, words.COMPOUND_ITEMS])
        return self.add(nouns, "graspable")

    def plate(self):
        return self.add(words.PLATES, "graspable", "surface")

    def pot(self):
        return self.add(words.POTS, "graspable", "container")

    def box(self, is_open=False):
        return self.add(words.BOXES, "graspable", "container", "openable", *(["open"] if is_open else []))

    def cabinet(self, is_open=False):
        return self.add(words.CABINETS, "container", "openable", *(["open"] if is_open else []), plain=0.7)

    def surface(self):
        return self.add(words.SURFACES, "surface", plain=0.7)

    def anything(self):
        kind = self.rng.random()
        return self.item() if kind < 0.7 else self.plate() if kind < 0.82 else self.pot()

    def target(self):
        """Something that takes things in, and how."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.cabinet(self.chance(0.2)), "inside"
        if kind < 0.7:
            return self.add(words.BINS, "container", plain=0.7), "inside"
        return self.surface(), "on"

    def put(self, thing, hidden=0.12, blocked=0.1):
        """Places a thing that is graspable: on the table, in something closed, under something."""
        if self.chance(hidden):
            self.relate("inside", thing, self.home())
        else:
            self.relate("on", thing, self.other_surface or self.table if self.chance(0.2) else self.table)
        if self.chance(blocked) and f"(surface {thing})" in self.facts[thing]:
            self.relate("on", self.item(), thing)

    def home(self):
        if self.store is None or self.chance(0.15):
            self.store = self.cabinet(self.chance(0.2)) if self.chance(0.5) else self.box(self.chance(0.2))
            if f"(graspable {self.store})" in self.facts[self.store]:
                self.relate("on", self.store, self.table)
        return self.store

    def finish(self):
        """The table comes last, as in most people's scenes; its name was fixed before."""
        self.names.remove(self.table)
        self.names.append(self.table)

    def begin(self):
        if self.numbered:
            self.table = self.add(["table"], "surface")
        elif self.chance(0.85):
            self.table = "table"
            self.names.append("table")
            self.facts["table"] = ["(surface table)"]
        else:
            self.table = self.add(words.SURFACES, "surface", plain=0.8)
        self.store = None
        self.other_surface = None

    def fetch_away(self, n):
        target, how = self.target()
        things = [self.anything() for _ in range(n)]
        for thing in things:
            self.put(thing)
            self.goal(how, thing, target)
        word = "into" if how == "inside" else "on"
        self.texts.append(self.rng.choice(["Put {} {} {}.", "Move {} {} {}.", "Please put {} {} {}.", "{} belong {} {}."])
                          .format(listed(things), word, listed([target])))
        if how == "inside" and f"(openable {target})" in self.facts[target] and self.chance(0.12):
            self.goals.append(f"(not (open {target}))")
            self.texts.append("Close it afterwards.")

    def unpack(self, n):
        for _ in range(n):
            box = self.box(self.chance(0.15))
            self.relate("on", box, self.table)
            thing = self.item()
            self.relate("inside", thing, box)
            target, how = self.target() if self.other is None or self.chance(0.6) else self.other
            self.other = (target, how)
            self.goal(how, thing, target)
            self.texts.append(f"{listed([thing]).capitalize()}, now in {listed([box])}, goes to {listed([target])}.")

    def set_up(self, n):
        surface = self.surface()
        bowl = self.pot() if self.chance(0.5) else None
        things = [self.item() for _ in range(n)]
        for thing in things + ([bowl] if bowl else []):
            self.put(thing, hidden=0.06)
        if bowl:
            self.goal("on", bowl, surface)
        for thing in things:
            self.goal("supported" if self.chance(0.3) else "on", thing, surface)
        self.texts.append(self.rng.choice(["Set {0} with {1}.", "Bring {1} to {0}.", "Get {0} ready: {1}."])
                          .format(listed([surface]), listed(things + ([bowl] if bowl else []))))

    def clean(self, n):
        spray = self.add(words.SPRAYERS, "graspable", "sprayer")
        cloth = self.add(words.CLOTHS, "graspable", "cloth")
        water = self.add(words.WATERS, *(["graspable"] if self.chance(0.7) else []), "water")
        for tool in (spray, cloth):
            self.put(tool, hidden=0.08)
        if f"(graspable {water})" in self.facts[water]:
            self.put(water, hidden=0)
        else:
            self.relate("on", water, self.table)
        if self.chance(0.12):
            self.facts[cloth].append(f"(soaked {cloth})")
        things = [self.plate() if self.chance(0.5) else self.pot() for _ in range(n)]
        for thing in things:
            if self.chance(0.15):
                self.facts[thing].append(f"(soaped {thing})")
            self.put(thing, hidden=0.05, blocked=0.02)
            self.goal("clean", thing)
        self.texts.append(self.rng.choice(["Clean {}.", "Wash {}: detergent first, then a wet cloth.", "Make {} clean."])
                          .format(listed(things)))

    def heat(self, n):
        stove = self.add(words.STOVES, "surface", "switchable", plain=0.7)
        pot = self.pot()
        self.put(pot, hidden=0.1)
        self.store = self.cabinet(self.chance(0.2))
        things = [self.add(words.FOOD, "graspable") for _ in range(n)]
        for thing in things:
            self.put(thing, hidden=0.7)
            self.goal("inside", thing, pot)
        self.goal("on", pot, stove)
        if self.chance(0.85):
            self.goal("switched-on", stove)
        self.texts.append(self.rng.choice(["Heat {} in {} on {}.", "Cook {} in {} on {}.", "Warm up {} in {} on {}."])
                          .format(listed(things), listed([pot]), listed([stove])))

    def hold(self, n):
        thing = self.plate()
        self.put(thing, hidden=0.25, blocked=0)
        below = thing
        for _ in range(n - 1 if self.chance(0.9) else 0):
            above = self.plate() if self.chance(0.5) else self.item()
            self.relate("on", above, below)
            if f"(surface {above})" not in self.facts[above]:
                break
            below = above
        self.goal("held", thing)
        self.texts.append(self.rng.choice(["Pick up {}.", "Hold {}.", "Take {} into the hand."]).format(listed([thing])))

    def stack(self, n):
        plates = [self.plate() for _ in range(n + 1)]
        last = None
        for plate in plates:
            self.relate("on", plate, last if last and self.chance(0.2) else self.table)
            last = plate
        order = list(plates)
        if self.chance(0.7):
            self.rng.shuffle(order)
        for above, below in zip(order[1:], order):
            self.goal("on", above, below)
        self.texts.append(self.rng.choice(["Stack {}.", "Make a pile of {}.", "Pile up {}."]).format(listed(order)))

    def switch(self, n):
        for _ in range(n):
            device = self.add(words.DEVICES, "switchable", plain=0.7)
            if self.chance(0.15):
                self.facts[device].append(f"(switched-on {device})")
            else:
                self.goal("switched-on", device)
                self.texts.append(f"Switch on {listed([device])}.")

    def shut(self, n):
        target = self.cabinet(self.chance(0.5))
        if f"(open {target})" in self.facts[target]:
            self.goals.append(f"(not (open {target}))")
            self.texts.append(f"Close {listed([target])}.")
        else:
            self.goal("open", target)
            self.texts.append(f"Open {listed([target])}.")

    KINDS = [("fetch_away", 5), ("unpack", 3), ("set_up", 3), ("clean", 3), ("heat", 3), ("hold", 1.5), ("stack", 2.5)]
    EXTRAS = [("switch", 2), ("shut", 1), ("fetch_away", 2), ("unpack", 1)]

    def fill(self):
        self.begin()
        self.other = None
        if self.chance(0.15):
            self.other_surface = self.surface()
        kind = weighted(self.rng, self.KINDS)
        most = {"unpack": 3, "clean": 3, "heat": 3, "stack": 3}.get(kind, 4)
        getattr(self, kind)(self.rng.randrange(1, most + 1))
        if self.chance(0.12):
            getattr(self, weighted(self.rng, self.EXTRAS))(1)
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2])):
            self.put(self.item(), hidden=0.05)
        self.finish()
        return self


# --- other domains ----------------------------------------------------------------------------------------------------------


def blocks(rng, numbered):
    scene = Scene(rng, "blocks", numbered)
    names = [scene.add(["block", "cube", "brick", "box"] if scene.chance(0.5) else words.COLOURS, "block") for _ in
             range(rng.randrange(3, 7))]
    scene.start = ["(gripper-free)"]

    def towers():
        order = list(names)
        rng.shuffle(order)
        towers = [[order[0]]]
        for name in order[1:]:
            if scene.chance(0.5):
                towers.append([name])
            else:
                towers[-1].append(name)
        return towers

    for tower in towers():
        scene.relate("on-floor", tower[0])
        for above, below in zip(tower[1:], tower):
            scene.relate("on", above, below)
        scene.relate("free", tower[-1])
    wanted = [pair for tower in towers() for pair in zip(tower[1:], tower)]
    for above, below in wanted[: rng.randrange(1, 4)] or [(names[0], names[1])]:
        scene.goal("on", above, below)
        scene.texts.append(f"Put {listed([above])} on {listed([below])}.")
    return scene


def courier(rng, numbered):
    scene = Scene(rng, "courier", numbered)
    rooms = [scene.add(words.ROOMS, "room", plain=0.9) for _ in range(rng.randrange(2, 5))]
    hands = [scene.add(["left", "right", "hand"], "hand", plain=1) for _ in range(rng.randrange(1, 3))]
    doors = [(rng.choice(rooms[:i]), room) for i, room in enumerate(rooms) if i]
    for a, b in doors:
        scene.relate("door", a, b)
        scene.relate("door", b, a)
    scene.relate("here", rng.choice(rooms))
    for hand in hands:
        scene.relate("empty", hand)
    things = [scene.add(words.ITEMS, "parcel") for _ in range(rng.randrange(1, 4))]
    for thing in things:
        scene.relate("in", thing, rng.choice(rooms))
        target = rng.choice(rooms)
        scene.goal("in", thing, target)
        scene.texts.append(f"Bring {listed([thing])} to {listed([target])}.")
    if scene.chance(0.25):
        a, b = rng.choice(doors)
        key = scene.add(["key", "card", "token"], "parcel")
        scene.relate("locked", a, b)
        scene.relate("locked", b, a)
        scene.relate("fits", key, a, b)
        scene.relate("fits", key, b, a)
        scene.relate("in", key, rng.choice(rooms))
    return scene


def kitchen(rng, numbered):
    scene = Scene(rng, "kitchen", numbered)
    foods = [scene.add(words.FOOD, "food", *(["tough"] if scene.chance(0.3) else [])) for _ in range(rng.randrange(1, 5))]
    dishes = [scene.add(words.DISHES, "dish") for _ in foods]
    burner = scene.add(words.STOVES, "burner", *(["lit"] if scene.chance(0.2) else []))
    for food in foods:
        if scene.chance(0.25):
            scene.facts[food].append(f"(washed {food})")
    for food, dish in list(zip(foods, dishes))[: rng.randrange(1, 4)]:
        if scene.chance(0.7):
            scene.goal("cooked", food)
            scene.texts.append(f"Cook {listed([food])}.")
        elif scene.chance(0.6):
            scene.goal("cut", food)
            scene.texts.append(f"Cut {listed([food])}.")
        if scene.chance(0.6) or not scene.goals:
            scene.goal("served", food, dish)
            scene.texts.append(f"Serve {listed([food])} on {listed([dish])}.")
    if not scene.chance(0.5):
        scene.names.remove(burner)
        scene.names.insert(0, burner)
    return scene


def garden(rng, numbered):
    scene = Scene(rng, "garden", numbered)
    beds = [scene.add(["bed", "patch", "field", "plot"], "bed", *(["stony"] if scene.chance(0.4) else []), plain=0.2)
            for _ in range(rng.randrange(1, 4))]
    seeds = [scene.add(words.SEEDS, "seed") for _ in beds]
    scene.add(["can", "bucket", "jug"], "can", *(["full"] if scene.chance(0.3) else []))
    for bed, seed in zip(beds, seeds):
        if scene.chance(0.2):
            scene.facts[bed].append(f"(weeded {bed})")
        if scene.chance(0.2):
            scene.facts[bed].append(f"(dug {bed})")
        if scene.chance(0.85) or not scene.goals:
            scene.goal("sown", seed, bed)
            scene.texts.append(f"Sow {listed([seed])} in {listed([bed])}.")
            if scene.chance(0.5):
                scene.goal("watered", bed)
                scene.texts.append(f"Water {listed([bed])}.")
    return scene


OTHERS = [(blocks, "blocks.pddl"), (courier, "courier.pddl"), (kitchen, "kitchen.pddl"), (garden, "garden.pddl")]

# --- what is written ----------------------------------------------------------------------------------------------------------


def shipped_problems():
    files = sorted(f for f in os.listdir(TABLETOP) if f.endswith(".pddl") and f != "domain.pddl")
    return [(f, open(os.path.join(TABLETOP, f)).read()) for f in files]


def shipped_objects():
    """The objects of each problem that ships, without the table."""
    return [set(re.search(r"\(:objects ([^)]*)\)", text).group(1).split()) - {"table"} for _, text in shipped_problems()]


def draw(rng, shipped):
    """(domain file, plan format, instruction, problem), or None. No scene shares two objects with a problem that ships."""
    format_name = weighted(rng, FORMATS)
    numbered = format_name in NUMBERED_FORMATS or rng.random() < 0.1
    if rng.random() < 0.72:
        scene, domain = Tabletop(rng, numbered).fill(), f"{TABLETOP}/domain.pddl"
    else:
        make, file = rng.choice(OTHERS)
        scene, domain = make(rng, numbered), f"{HERE}/domains/{file}"
    if not scene.goals or len(scene.names) > 14:
        return None
    if any(len(objects & set(scene.names)) > 1 for objects in shipped):
        return None
    return domain, format_name, " ".join(scene.texts) if rng.random() < 0.5 else "", scene.problem()
