"""Prompts of VirtualHome's two modules (vh-as, vh-sd): houses and wishes drawn at random.

A house is a few objects of VirtualHome's vocabulary (virtualhome.tsv) with numbers, states and places. A wish asks for states,
relations and actions by what the objects' properties allow; which activities the benchmark has plays no part. Whether a wish can
be granted is for the search to find out: prompts without a plan are left out.
"""
import os

import templates

HERE = os.path.dirname(os.path.abspath(__file__))
# States in the order in which action sequencing lists them.
STATE_ORDER = ["PLUGGED_OUT", "OFF", "PLUGGED_IN", "CLEAN", "DIRTY", "CLOSED", "OPEN", "ON", "SITTING", "LYING"]
TO_SUBGOAL = {"ON": "ONTOP", "CLOSE": "NEXT_TO", "NEAR": "NEXT_TO"}


class Kind:
    def __init__(self, line):
        self.name, self.category, properties = line.rstrip("\n").split("\t")
        self.properties = properties.split(",") if properties else []

    def has(self, *properties):
        return all(p in self.properties for p in properties)


def load_kinds():
    with open(os.path.join(HERE, "virtualhome.tsv")) as file:
        return [Kind(line) for line in file if not line.startswith("#")]


KINDS = load_kinds()
ROOMS = [k for k in KINDS if k.category == "Rooms"]
THINGS = [k for k in KINDS if k.category not in ("Rooms", "Characters", "Floor", "Floors", "Walls", "Ceiling", "Doors", "Windows")]
BACKGROUND = [k for k in KINDS if k.category in ("Floor", "Floors", "Walls", "Ceiling", "Doors", "Windows", "Lamps")]
WITH = {p: [k for k in THINGS if k.has(p)] for p in sorted({p for k in THINGS for p in k.properties})}
SURFACES = [k for k in WITH["SURFACES"] if not k.has("GRABBABLE")]
CONTAINERS = [k for k in WITH["CONTAINERS"] if k.has("CAN_OPEN") and not k.has("GRABBABLE")]


class Thing:
    def __init__(self, kind, number, rng):
        self.kind, self.number = kind, number
        self.states = ["CLEAN" if rng.random() < 0.95 else "DIRTY"]
        if kind.has("HAS_SWITCH"):
            self.states.append("OFF" if rng.random() < 0.93 else "ON")
        if kind.has("HAS_PLUG"):
            self.states.append("PLUGGED_IN" if rng.random() < 0.88 else "PLUGGED_OUT")
        if kind.has("CAN_OPEN"):
            self.states.append("CLOSED" if rng.random() < 0.9 else "OPEN")
        self.states.sort(key=STATE_ORDER.index)

    @property
    def name(self):
        return self.kind.name


class House:
    """What the prompt tells: things, places, and what is wished for."""

    def __init__(self, rng):
        self.rng = rng
        self.things = []
        self.numbers = {65}
        self.edges = []  # (from, relation, to)
        self.shown = []  # whose states are listed
        self.node_goals, self.edge_goals, self.action_goals = [], [], []
        self.titles = []
        self.added = 1000
        self.robot = Thing(next(k for k in KINDS if k.category == "Characters"), 65, rng)
        self.robot.states = []
        self.things.append(self.robot)
        self.rooms = [self.add(kind) for kind in rng.sample(ROOMS, rng.choice([1, 1, 2, 2, 2]))]
        for room in self.rooms:
            room.states = []

    def chance(self, p):
        return self.rng.random() < p

    def number(self, kind):
        if kind.category == "placable_objects" and self.chance(0.9):
            self.added += 1
            return self.added - 1
        while True:
            number = self.rng.randrange(1, 450)
            if number not in self.numbers:
                return number

    def add(self, kind):
        thing = Thing(kind, self.number(kind), self.rng)
        self.numbers.add(thing.number)
        self.things.append(thing)
        return thing

    def one(self, kinds):
        """A new thing of a class that is not there yet, for goals name classes."""
        there = {thing.name for thing in self.things}
        return self.add(self.rng.choice([k for k in kinds if k.name not in there] or kinds))

    def known(self, kinds):
        """One that is there already, or a new one."""
        fitting = [t for t in self.things if t.kind in kinds]
        return self.rng.choice(fitting) if fitting and (self.chance(0.3) or len(kinds) == 1) else self.one(kinds)

    def wish(self, *nodes, edges=(), actions=(), title=None):
        self.node_goals += [n for n in nodes if n not in self.node_goals]
        self.edge_goals += [e for e in edges if e not in self.edge_goals]
        self.action_goals += [a for a in actions if a not in self.action_goals]
        if title:
            self.titles.append(title)

    # --- what can be wished for; each shows the states that it is about

    def switch_on(self, kinds=None):
        thing = self.known(kinds or WITH["HAS_SWITCH"])
        self.show(thing)
        nodes = [(thing, "ON")]
        if thing.kind.has("CAN_OPEN") and self.chance(0.9):
            nodes.insert(0, (thing, "CLOSED"))
        if thing.kind.has("HAS_PLUG"):
            nodes.append((thing, "PLUGGED_IN"))
        self.wish(*nodes, title=f"Start the {thing.name}")
        return thing

    def switch_several(self):
        for _ in range(self.rng.choice([2, 2, 3])):
            self.switch_on()

    def rest(self):
        posture, kinds = self.rng.choice([("SITTING", WITH["SITTABLE"]), ("SITTING", WITH["SITTABLE"]), ("LYING", WITH["LIEABLE"])])
        seat = self.known(kinds)
        self.show(self.robot)
        self.wish((self.robot, posture), edges=[(self.robot, "ON", seat)], title=f"Rest on the {seat.name}")

    def hold(self):
        thing = self.known(WITH["GRABBABLE"])
        self.wish(edges=[(self.robot, "HOLDS_RH", thing)], title=f"Take the {thing.name}")
        if self.chance(0.12):
            other = self.one(WITH["GRABBABLE"])
            self.wish(edges=[(self.robot, "HOLDS_LH", other)])
        return thing

    def read(self):
        thing = self.one(WITH["READABLE"])
        self.wish(edges=[(self.robot, "HOLDS_RH", thing)], actions=[["READ", "LOOKAT"]], title=f"Study the {thing.name}")

    def drink(self):
        thing = self.one([k for k in WITH["RECIPIENT"] + WITH["DRINKABLE"] if k.has("GRABBABLE")])
        edges = [(self.robot, "HOLDS_RH", thing)] if self.chance(0.7) else []
        self.wish(edges=edges, actions=[["DRINK"]], title=f"Use the {thing.name} when thirsty")

    def look(self):
        thing = self.switch_on(WITH["LOOKABLE"]) if self.chance(0.6) else self.known(THINGS)
        self.wish(edges=[(self.robot, "FACING", thing)], actions=[["LOOKAT", "WATCH"]] if self.chance(0.7) else [],
                  title=f"Look at the {thing.name}")

    def touch(self):
        thing = self.known(THINGS)
        self.wish(edges=[(self.robot, "CLOSE", thing)], actions=[self.rng.choice([["TOUCH"], ["TOUCH"], ["TOUCH", "PUSH"], ["PULL"]])],
                  title=f"Feel the {thing.name}")

    def put_on(self):
        place = self.known(SURFACES)
        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            thing = self.one(WITH["GRABBABLE"])
            self.wish(edges=[(thing, "ON", place)])
        self.titles.append(f"Fill the {place.name}")

    def put_in(self):
        place = self.known(CONTAINERS)
        self.show(place)
        for _ in range(self.rng.choice([1, 1, 2])):
            thing = self.one(WITH["GRABBABLE"])
            self.wish(edges=[(thing, self.rng.choice(["INSIDE", "INSIDE", "ON"]), place)])
        self.titles.append(f"Store things in the {place.name}")
        if self.chance(0.4):
            self.wish((place, "CLOSED"))
        if place.kind.has("HAS_SWITCH") and self.chance(0.6):
            self.wish((place, "CLOSED"), (place, "ON"))
            if place.kind.has("HAS_PLUG"):
                self.wish((place, "PLUGGED_IN"))

    def wash(self):
        soap = self.one([k for k in WITH["CREAM"] if k.has("GRABBABLE")] + [k for k in THINGS if k.name in ("towel", "rag", "sponge")])
        if self.chance(0.6):
            self.switch_on([k for k in THINGS if k.name == "faucet"])
        thing = self.known(WITH["RECIPIENT"] + [k for k in THINGS if k.has("BODY_PART")])
        actions = self.rng.choice([[["RINSE", "WASH"]], [["GRAB"], ["WASH", "RINSE", "SCRUB", "WIPE"]], [["SCRUB"]]])
        edges = [(self.robot, "HOLDS_RH", soap)] if self.chance(0.4) else []
        self.wish(edges=edges, actions=actions, title=f"Wash the {thing.name}")

    def pour(self):
        full = self.one([k for k in WITH["POURABLE"] if k.has("GRABBABLE")])
        empty = self.one(WITH["RECIPIENT"])
        self.wish(actions=[["POUR"]], title=f"Pour {full.name} into the {empty.name}")
        if empty.kind.has("HAS_SWITCH") and self.chance(0.5):
            self.switch_on([empty.kind])

    def type_something(self):
        screen = self.switch_on(WITH["LOOKABLE"])
        if self.chance(0.6):
            self.one([k for k in THINGS if k.name in ("keyboard", "mouse")])
        self.wish(actions=[["TYPE"]] + ([["SWITCHOFF"]] if self.chance(0.3) else []), title=f"Type at the {screen.name}")

    def go(self):
        room = self.rng.choice(self.rooms)
        self.wish(edges=[(self.robot, "INSIDE", room)], title=f"Go to the {room.name}")

    def open_up(self):
        thing = self.known([k for k in WITH["CAN_OPEN"] if not k.has("GRABBABLE")])
        self.show(thing)
        self.wish((thing, "OPEN"), title=f"Open the {thing.name}")
        if thing.kind.has("HAS_PLUG") and self.chance(0.6):
            self.wish((thing, "PLUGGED_IN"))

    def dress(self):
        thing = self.one(WITH["CLOTHES"])
        self.wish(edges=[(thing, "ON", self.robot)], title=f"Dress in the {thing.name}")

    WISHES = [("switch_on", 30), ("switch_several", 5), ("rest", 16), ("hold", 18), ("read", 8), ("drink", 8), ("look", 16),
              ("touch", 7), ("put_on", 10), ("put_in", 9), ("wash", 10), ("pour", 6), ("type_something", 4), ("go", 3),
              ("open_up", 4), ("dress", 1)]

    # --- the rest of the house

    def show(self, thing):
        if thing not in self.shown:
            self.shown.append(thing)

    def clutter(self):
        for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3])):
            self.one(THINGS)
        if self.chance(0.08):
            for _ in range(self.rng.randrange(5, 18)):
                self.add(self.rng.choice(BACKGROUND if self.chance(0.6) else THINGS))
        if self.chance(0.4):
            self.show(self.robot)
        if self.chance(0.1):
            self.show(self.rng.choice(self.things))

    def furnish(self):
        if self.chance(0.85):
            self.edges.append((self.robot, "INSIDE", self.rng.choice(self.rooms)))
        if self.chance(0.02):
            self.robot.states = [self.rng.choice(["SITTING", "LYING"])]
            self.show(self.robot)
        things = [t for t in self.things if t is not self.robot and t not in self.rooms]
        movable = [t for t in things if t.kind.has("GRABBABLE")]
        for thing in movable:
            places = [t for t in things if t is not thing and not t.kind.has("GRABBABLE")]
            if places and self.chance(0.3):
                place = self.rng.choice(places)
                if place.kind in CONTAINERS and self.chance(0.6):
                    self.edges.append((thing, "INSIDE", place))
                    self.show(place)
                elif place.kind.has("SURFACES"):
                    self.edges.append((thing, "ON", place))
            elif self.chance(0.08):
                self.edges.append((thing, "INSIDE", self.rng.choice(self.rooms)))
        if len(things) > 1 and self.chance(0.45):
            for _ in range(self.rng.choice([1, 1, 2, 3, 5])):
                a, b = self.rng.sample(things, 2)
                self.edges += [(a, "NEAR", b), (b, "NEAR", a)]
        self.rng.shuffle(self.edges)
        unique = []
        for edge in self.edges:
            if edge not in unique:
                unique.append(edge)
        self.edges = unique

    def fill(self):
        kinds = [name for name, weight in self.WISHES for _ in range(weight)]
        for _ in range(self.rng.choice([1, 1, 1, 1, 1, 2])):
            getattr(self, self.rng.choice(kinds))()
        self.clutter()
        self.furnish()
        self.rng.shuffle(self.things)
        return self


def quoted(words):
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def lines(items):
    return "".join(item + "\n" for item in items)


def actions_prompt(house):
    asked = [f"{' or '.join(line)}\n{'|'.join(line)}" for line in house.action_goals]
    return templates.fill(
        "virtualhome-actions",
        OBJECTS=lines(f"{t.name}, id: {t.number}, properties: {quoted(t.kind.properties)}" for t in house.things),
        NODES=lines(f"{t.name}, states: {quoted(t.states)}, properties:{quoted(t.kind.properties)}" for t in house.shown),
        EDGES=lines(f"<{a.name}> ({a.number}) is {relation} to <{b.name}> ({b.number})" for a, relation, b in house.edges),
        NODE_GOALS=lines(f"{t.name} is {state}" for t, state in house.node_goals),
        EDGE_GOALS=lines(f"{a.name} is {relation} to {b.name}" for a, relation, b in house.edge_goals),
        ACTION_GOALS="The following action(s) should be included:\n" + lines(asked) + "-----------------\n" if asked else
        "There is no action requirement.\n")


def dotted(thing):
    return f"{thing.name}.{thing.number}"


def subgoals_prompt(house):
    relate = lambda a, relation, b: f"{TO_SUBGOAL.get(relation, relation)}({dotted(a)}, {dotted(b)})"
    by_number = sorted(house.things, key=lambda t: t.number)
    states = [f"{state}({dotted(t)})" for t in by_number if t in house.shown for state in sorted(t.states)]
    states += [relate(*edge) for edge in house.edges if edge[1] != "NEAR"]
    goals = [f"{state}({dotted(t)})" for t, state in house.node_goals] + [relate(*edge) for edge in house.edge_goals]
    actions = [" or ".join(line) for line in house.action_goals]
    return templates.fill(
        "virtualhome-subgoals",
        TITLE=house.rng.choice(house.titles),
        OBJECTS=lines(f"| {dotted(t)} | {t.kind.category} | {quoted(sorted(t.kind.properties))} |" for t in by_number),
        STATES=lines(states or ["None"]), GOALS=lines(goals or ["None"]), ACTIONS=lines(actions or ["None"]),
        NECESSITY="Yes" if actions else "No")


def draw(rng, module):
    """A request for examples.cc; "objects" and "habit" are for generate.py."""
    house = House(rng).fill()
    prompt = actions_prompt(house) if module == "vh-as" else subgoals_prompt(house)
    wished = [t.name for t, _ in house.node_goals] + [e[2].name for e in house.edge_goals] + [a[0] for a in house.action_goals]
    return {"module": module, "system": "" if module == "vh-as" else "virtualhome-subgoals-system", "prompt": prompt,
            "objects": [t.name for t in house.things if t is not house.robot], "habit": " ".join(sorted(set(wished))[:2])}
