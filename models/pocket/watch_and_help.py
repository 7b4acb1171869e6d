"""Prompts of Watch-And-Help: apartments, instructions and goals drawn at random.

There are two kinds. In the one (wah) the model reads what matters of an apartment, an instruction and goals, and writes a plan;
in the other (wah-goal) it reads the classes of an apartment and an instruction, and writes the goals. The wording is that of
`metactrl eval wah`. Nothing here is the benchmark's: classes are VirtualHome's, apartments and instructions ours.
"""
import json

DOMAIN = "domains/watch-and-help/environment.pddl"
# class: as people say it
FOOD = {"apple": "apple", "bananas": "banana", "bellpepper": "bell pepper", "breadslice": "slice of bread", "carrot": "carrot",
        "cereal": "cereal", "chicken": "chicken", "chips": "bag of chips", "chocolatesyrup": "chocolate syrup", "cupcake": "cupcake",
        "juice": "juice", "lime": "lime", "milk": "milk", "milkshake": "milkshake", "pancake": "pancake", "peach": "peach",
        "pear": "pear", "pie": "pie", "plum": "plum", "poundcake": "pound cake", "pudding": "pudding", "salad": "salad",
        "salmon": "salmon", "sundae": "sundae", "wine": "wine", "whippedcream": "whipped cream", "crackers": "box of crackers",
        "condimentbottle": "condiment bottle", "candybar": "candy bar", "coffeepot": "coffee pot"}
DISHES = {"plate": "plate", "cutleryfork": "fork", "cutleryknife": "knife", "cutlets": "cutlet", "waterglass": "water glass",
          "wineglass": "wine glass", "mug": "mug", "dishbowl": "bowl", "fryingpan": "frying pan", "cookingpot": "cooking pot",
          "coffeecup": "coffee cup", "oventray": "oven tray"}
OTHERS = {"book": "book", "magazine": "magazine", "folder": "folder", "notes": "note", "cellphone": "cell phone",
          "remotecontrol": "remote control", "pillow": "pillow", "towel": "towel", "toothbrush": "toothbrush",
          "toothpaste": "toothpaste", "barsoap": "bar of soap", "facecream": "face cream", "hairproduct": "hair product",
          "candle": "candle", "clothespile": "pile of clothes", "clothesshirt": "shirt", "clothespants": "pair of pants",
          "slippers": "slippers", "box": "box", "mouse": "mouse", "keyboard": "keyboard", "papertray": "paper tray",
          "toy": "toy", "dishwashingliquid": "dishwashing liquid", "washingsponge": "sponge", "deodorant": "deodorant",
          "perfume": "perfume", "crayons": "crayons", "boardgame": "board game", "radio": "radio", "rug": "rug", "hanger": "hanger"}
THINGS = {**FOOD, **DISHES, **OTHERS}
# class: container, surface, can be opened, has a switch, room, as people say it
PLACES = {"fridge": (1, 0, 1, 0, "kitchen", "fridge"), "dishwasher": (1, 0, 1, 1, "kitchen", "dishwasher"),
          "kitchencabinet": (1, 1, 1, 0, "kitchen", "kitchen cabinet"), "microwave": (1, 0, 1, 1, "kitchen", "microwave"),
          "stove": (1, 1, 1, 1, "kitchen", "stove"), "kitchencounter": (0, 1, 0, 0, "kitchen", "kitchen counter"),
          "kitchentable": (0, 1, 0, 0, "kitchen", "kitchen table"), "coffeetable": (0, 1, 0, 0, "livingroom", "coffee table"),
          "cabinet": (1, 1, 1, 0, "livingroom", "cabinet"), "bookshelf": (1, 1, 0, 0, "livingroom", "bookshelf"),
          "tvstand": (1, 1, 0, 0, "livingroom", "TV stand"), "sofa": (0, 1, 0, 0, "livingroom", "sofa"),
          "bench": (0, 1, 0, 0, "livingroom", "bench"), "desk": (0, 1, 0, 0, "bedroom", "desk"),
          "nightstand": (1, 1, 1, 0, "bedroom", "nightstand"), "bed": (0, 1, 0, 0, "bedroom", "bed"),
          "closet": (1, 0, 1, 0, "bedroom", "closet"), "chair": (0, 1, 0, 0, "kitchen", "chair"),
          "bathroomcabinet": (1, 1, 1, 0, "bathroom", "bathroom cabinet"), "bathroomcounter": (0, 1, 0, 0, "bathroom", "bathroom counter"),
          "washingmachine": (1, 1, 1, 1, "bathroom", "washing machine"), "garbagecan": (1, 0, 0, 0, "kitchen", "garbage can"),
          "sink": (1, 0, 0, 0, "kitchen", "sink"), "floor": (0, 1, 0, 0, "livingroom", "floor"),
          "wallshelf": (0, 1, 0, 0, "bedroom", "wall shelf")}
SWITCHES = ["computer", "coffeemaker", "lightswitch", "tablelamp", "toaster", "tv", "faucet", "wallphone", "cpuscreen", "ceilinglamp"]
ROOMS = ["bathroom", "bedroom", "kitchen", "livingroom"]
# where things lie: place class, relation, weight
HOMES = [("fridge", "in", 4), ("kitchencabinet", "in", 5), ("cabinet", "in", 4), ("microwave", "in", 2), ("dishwasher", "in", 2),
         ("nightstand", "in", 1), ("bathroomcabinet", "in", 1), ("closet", "in", 1), ("stove", "in", 1), ("cabinet", "on", 2),
         ("coffeetable", "on", 2), ("bench", "on", 2), ("kitchentable", "on", 3), ("kitchencounter", "on", 3), ("bookshelf", "on", 2),
         ("desk", "on", 1), ("sofa", "on", 1), ("tvstand", "on", 1)]
# target, relation, what is carried, weight
FAMILIES = [("coffeetable", "on", FOOD, 5), ("kitchentable", "on", FOOD, 4), ("kitchentable", "on", DISHES, 5), ("fridge", "inside", FOOD, 5),
            ("dishwasher", "inside", DISHES, 5), ("coffeetable", "on", OTHERS, 2), ("bookshelf", "on", OTHERS, 1),
            ("microwave", "inside", FOOD, 1), ("desk", "on", OTHERS, 1), ("kitchencabinet", "inside", THINGS, 1)]
# other words for a class
ALSO = {"cutleryfork": ["cutlery fork"], "cutleryknife": ["cutlery knife"], "waterglass": ["glass of water", "water glass"],
        "wineglass": ["glass of wine", "glass for wine"], "wine": ["bottle of wine", "wine bottle"], "juice": ["juice box", "box of juice", "carton of juice"],
        "milk": ["bottle of milk", "carton of milk"], "coffeepot": ["pot of coffee", "coffee"], "pudding": ["bowl of pudding", "cup of pudding"],
        "dishbowl": ["dish bowl"], "chips": ["chips"], "crackers": ["crackers"], "cereal": ["box of cereal"], "salad": ["bowl of salad"],
        "candybar": ["chocolate bar"], "poundcake": ["pound cake", "slice of pound cake"], "bananas": ["bunch of bananas"]}
# what people say who do not name things
VAGUE = {"coffeetable": ["Prepare a snack", "Bring me something to eat", "Get the coffee table ready"],
         "kitchentable": ["Set the table", "Prepare food", "Get the table ready for dinner"],
         "fridge": ["Put the food away", "Store the groceries", "Keep these things cool"],
         "dishwasher": ["Do the dishes", "Load the dishwasher", "Wash up"],
         "microwave": ["Heat something up", "Warm the food"]}
# where people think that things are
SOMEWHERE = ["cupboard", "kitchen", "drawer", "pantry", "shelf", "counter", "bread bin", "living room", "basket", "tray", "cellar", "sideboard"]


class Place:
    def __init__(self, name, number, rng, state=None):
        self.name, self.number = name, number
        self.container, self.surface, self.opens, self.switched, self.home, _ = PLACES[name]
        if rng.random() < 0.15:
            self.home = rng.choice(ROOMS)
        self.shut = bool(self.opens) and rng.random() < 0.9
        self.running = bool(self.switched) and rng.random() < 0.03
        if self.running:
            self.shut = bool(self.opens)
        self.inside, self.on = [], []

    @property
    def spelled(self):
        return f"{self.name}_{self.number}"

    def marks(self):
        words = ["container"] * self.container + ["surface"] * self.surface
        if self.opens:
            words.append("closed" if self.shut else "open")
        if self.switched:
            words.append("on" if self.running else "off")
        return f" ({', '.join(words)})" if words else ""

    def lines(self):
        """Of what is in it and on it."""
        shut = " (closed)" if self.opens and self.shut else ""
        return "".join(f"- {name} {number} {word} {self.name} {self.number}{mark}\n"
                       for word, mark, things in (("in", shut, self.inside), ("on", "", self.on)) for name, number in sorted(things))


class Apartment:
    def __init__(self, rng):
        self.rng = rng
        self.used = set()
        self.rooms = {name: self.number() for name in ROOMS}
        self.start = rng.choice(ROOMS)
        self.places = []
        self.next_added = 1000

    def chance(self, p):
        return self.rng.random() < p

    def number(self):
        while True:
            number = self.rng.randrange(11, 450)
            if number not in self.used:
                self.used.add(number)
                return number

    def place(self, name):
        there = [p for p in self.places if p.name == name]
        most = {"kitchencabinet": 6, "cabinet": 2, "fridge": 2, "coffeetable": 2, "nightstand": 2}.get(name, 1)
        if there and (len(there) >= most or self.chance(0.4)):
            return self.rng.choice(there)
        self.places.append(Place(name, self.number(), self.rng))
        return self.places[-1]

    def wish(self):
        """Goals, all with one target class; then things that can fulfil them."""
        target, relation, carried, _ = self.rng.choices(FAMILIES, [f[3] for f in FAMILIES])[0]
        count = self.rng.choice([1, 2, 2, 3, 3, 4, 5, 6])
        names = [self.rng.choice(list(carried)) for _ in range(count)]
        if self.chance(0.8):
            names = list(dict.fromkeys(names))
        names = sorted(names, key=names.index)  # a count of two: the line written twice
        self.target, self.relation, self.wanted = target, relation, names
        self.turn_on = target in ("dishwasher", "microwave") and self.chance(0.75)
        self.targets = [self.place(target) for _ in range(self.rng.choice([1, 1, 2]))]
        for name in dict.fromkeys(names):
            for _ in range(names.count(name) + self.rng.choice([0, 0, 0, 1, 1, 2, 3])):
                self.lay(name)

    def lay(self, name):
        home, where, _ = self.rng.choices(HOMES, [h[2] for h in HOMES])[0]
        place = self.place(home)
        number = self.number()
        if self.chance(0.75):
            number, self.next_added = self.next_added, self.next_added + 1
        (place.inside if where == "in" else place.on).append((name, number))

    def goal_lines(self):
        lines = [f"{self.relation}({name}, {self.target})" for name in self.wanted]
        return lines + ([f"turnOn({self.target})"] if self.turn_on else [])

    def listing(self):
        text, things = "", ""
        for name, number in sorted(self.rooms.items(), key=lambda room: room[1]):
            places = sorted((p for p in self.places if p.home == name), key=lambda p: p.number)
            text += f"{name} {number}:" + ("" if places else " nothing") + "\n"
            text += "".join(f"- {p.name} {p.number}{p.marks()}\n" for p in places)
            things += "".join(p.lines() for p in places)
        return text + ("Things:\n" + things if things else "")

    def in_order(self):
        """The places as the prompt lists them."""
        rooms = sorted(self.rooms, key=self.rooms.get)
        return sorted(self.places, key=lambda p: (rooms.index(p.home), p.number))

    def problem(self):
        """For domains/watch-and-help/environment.pddl. Of several things and targets that would do, the first listed are meant."""
        places = self.in_order()
        target = next(p for p in places if p.name == self.target)
        held = target.inside if self.relation == "inside" else target.on
        facts, goals, things = [], [], []
        for place in places:
            facts += [f"({word} {place.spelled})" for word, holds in
                      (("container", place.container), ("surface", place.surface), ("can-open", place.opens), ("has-switch", place.switched))
                      if holds]
            if place.opens:
                facts.append(f"(is-{'closed' if place.shut else 'open'} {place.spelled})")
            if place.switched:
                facts.append(f"(is-{'on' if place.running else 'off'} {place.spelled})")
            for word, kept in (("inside", place.inside), ("on", place.on)):
                for name, number in sorted(kept):
                    things.append((name, number))
                    facts += [f"(grabbable {name}_{number})", f"({word} {name}_{number} {place.spelled})"]
        for name in dict.fromkeys(self.wanted):
            fitting = sorted((t for t in things if t[0] == name), key=lambda t: t not in held)
            for thing in fitting[: self.wanted.count(name)]:
                goals.append(f"({self.relation} {thing[0]}_{thing[1]} {target.spelled})")
        if self.turn_on:
            goals.append(f"(is-on {target.spelled})")
        objects = " ".join([p.spelled for p in places] + [f"{name}_{number}" for name, number in things]) + " - thing "
        objects += " ".join(f"{name}_{number}" for name, number in self.rooms.items()) + " - room"
        return (f"(define (problem apartment) (:domain watch-and-help)\n(:objects {objects})\n(:init {' '.join(facts)})\n"
                f"(:goal (and {' '.join(goals)})))\n")

    # --- what the person says

    def spoken(self, counted):
        """Each thing as this person says it: "a fork", "1 cutlery fork", "fork"."""
        rng = self.rng
        style = rng.choices(["articles", "digits", "bare", "first"], [9, 5, 4, 2])[0]
        said = []
        for name, count in counted.items():
            word = rng.choice(ALSO[name]) if name in ALSO and self.chance(0.4) else name if self.chance(0.04) else THINGS[name]
            if count > 1:
                number = count if style == "digits" else {2: "two", 3: "three"}.get(count, count)
                head, of, rest = word.partition(" of ")
                said.append(f"{number} {head}{'es' if head.endswith(('s', 'sh', 'ch')) else 's'}{of}{rest}")
                continue
            article = rng.choice(["an" if word[0] in "aeiou" else "a"] * 2 + ["the", "one"])
            bare = style == "bare" or (style == "first" and said)
            said.append(word if bare else f"{1 if style == 'digits' else article} {word}")
        return said

    def listed(self, said):
        return said[0] if len(said) == 1 else ", ".join(said[:-1]) + self.rng.choice([" and ", ", and "]) + said[-1]

    def order(self, said, where, words):
        """One sentence that names all things and begins with what is to be done."""
        joined, some = self.listed(said), self.rng.choice(SOMEWHERE)
        it = "it" if len(said) == 1 else "them"
        forms = [f"put {joined} {where}", f"put {joined} {where}", f"place {joined} {where}", f"bring {joined} and put {it} {where}",
                 f"find {joined}, and place {'it' if it == 'it' else 'everything'} {where}", f"get {joined}. Put {it} {where}",
                 f"take {joined} and put {it} {where}", f"take {joined} from the {some} and put {it} {where}", f"bring {joined} to the {words}",
                 f"carry {joined} to the {words}", f"move {joined} to the {words}", f"fetch {joined} and leave {it} {where}",
                 f"make sure that {joined} {'is' if it == 'it' else 'are'} {where}", f"put these {where}: - {' - '.join(said)}",
                 ", ".join(f"get {s}, put it {where}" for s in said)]
        if self.relation == "inside":
            forms += [f"fill the {words} with {joined}", f"load {joined} {where}"]
        return self.rng.choice(forms)

    def state(self, said, where):
        """One sentence about how things shall be."""
        joined = self.listed(said)
        return self.rng.choice([
            f"{joined} {'is' if len(said) == 1 else 'are'} {where}", f"{joined} should be {where}", f"I would like {joined} {where}", f"I need {joined} {where}",
            f"I want to have {joined} {where}", f"These things belong {where}: {', '.join(said)}", f"The following must be {where}: {joined}",
            f"I want these things {where}: - {' - '.join(said)}"])

    def story(self, said, where):
        """Two sentences or more."""
        rng = self.rng
        some = lambda: rng.choice(SOMEWHERE)
        if len(said) == 1 or self.chance(0.4):
            told = [rng.choice([f"go to the {some()} and get {s}. Put it {where}", f"take {s} and put it {where}", f"bring {s} and place it {where}",
                                f"find {s} in the {some()} and put it {where}", f"put {s} {where}"]) for s in said]
            return rng.choice([". Then ", ". Next, ", ", then ", ". After that, ", " and "]).join(told)
        cut = rng.randrange(1, len(said))
        first, second = self.listed(said[:cut]), self.listed(said[cut:])
        its, them = ("it" if n == 1 else "them" for n in (cut, len(said) - cut))
        return rng.choice([f"put {first} {where}. {rng.choice(['Also', 'Then', 'After that,'])} put {second} {where}", f"put {first} {where}, and {second} too",
                           f"put {first} {where}. I would also like {second} there", f"put {first} {where}. Then bring {second} and put {them} there, too",
                           f"take {first} out of the {some()} and put {its} {where}. Then get {second} and put {them} {where}"])

    def instruction(self, goals_told=False):
        """Where the goals are told too, it names things in an order of its own, and now and then none at all: a plan follows the goals."""
        rng = self.rng
        words = PLACES[self.target][5] if self.chance(0.93) else self.target
        if self.target == "kitchentable" and self.chance(0.25):
            words = rng.choice(["table", "table", "dining table", "table in the kitchen"])
        preposition = "on" if self.relation == "on" else rng.choice(["in", "in", "into", "inside"])
        counted = {}
        for name in self.wanted:
            counted[name] = counted.get(name, 0) + 1
        if goals_told and self.chance(0.8):
            counted = dict(rng.sample(list(counted.items()), len(counted)))
        said, where = self.spoken(counted), f"{preposition} the {words}"
        kind = rng.choices(["order", "state", "story"], [5, 2, 2])[0]
        if kind == "state":
            text = self.state(said, where)
        else:
            text = self.order(said, where, words) if kind == "order" else self.story(said, where)
            text = rng.choice(["", "", "", "please ", "please, ", "can you ", "could you ", "could you please ", "robot, ", "robot, please ", "I want you to ",
                               "I need you to ", "you should ", "first, "]) + text
        text = text[0].upper() + text[1:]
        if self.turn_on:
            text += rng.choice([" and turn it on", " and switch it on", ", then start it", f". Turn on the {words}", f", and then turn on the {words}",
                                f". After that, turn the {words} on", f". Then turn the {words} on", f". Make sure that the {words} is running",
                                f", and see that the {words} is on", f". The {words} must be turned on, too", f" and start the {words}"])
        elif self.chance(0.1):
            text += rng.choice([", please", ". Thank you", ". Thanks", ", one after the other", " for me", ". Take your time",
                                f". Look in the {rng.choice(SOMEWHERE)}"])
        if text.startswith(("Can ", "Could ")) and self.chance(0.7):
            text += "?"
        if self.chance(0.04):  # a letter is missing somewhere
            at = rng.randrange(len(text) // 2, len(text))
            text = text[:at] + text[at + 1:]
        if goals_told and self.chance(0.15):
            text = rng.choice(VAGUE[self.target] if self.target in VAGUE else ["Tidy up", "Put things where they belong"])
        if self.chance(0.5):
            text = text.rstrip("?") + rng.choice([".", "!", ""])
        if self.chance(0.15):
            text = text[0].lower() + text[1:]
        return text


def draw_plan(rng):
    apartment = Apartment(rng)
    apartment.wish()
    instruction = apartment.instruction(goals_told=True)
    goals = apartment.goal_lines()
    prompt = (f"Apartment:\n{apartment.listing()}The robot is in the {apartment.start} {apartment.rooms[apartment.start]}.\n"
              f"Instruction: {instruction}\nGoal, for one and the same {apartment.target}:\n" + "\n".join(goals))
    return {"domain": DOMAIN, "problem": apartment.problem(), "format": "virtualhome-actions",
            "system": "watch-and-help-plan-system", "prompt": prompt, "goals": goals, "said": instruction,
            "habit": f"{apartment.target} {apartment.wanted[0]}"}


def draw_goal(rng):
    """The answer is known, so no plan has to be found."""
    apartment = Apartment(rng)
    apartment.wish()
    goals = apartment.goal_lines()
    some = lambda names, least: set(rng.sample(sorted(names), rng.randrange(least, len(names) + 1)))
    things = some(THINGS, 25) | set(apartment.wanted)
    places = some(PLACES, 12) | {apartment.target}
    switches = some(SWITCHES, 3) | {name for name in places if PLACES[name][3]}
    instruction = apartment.instruction()
    listed = lambda names: ", ".join(sorted(names))
    prompt = (f"Things: {listed(things)}\nContainers: {listed(n for n in places if PLACES[n][0])}\n"
              f"Surfaces: {listed(n for n in places if PLACES[n][1])}\nSwitches: {listed(switches)}\nInstruction: {instruction}")
    return {"system": "watch-and-help-goal-system", "prompt": prompt, "plan": json.dumps({"goal": goals}), "goals": goals,
            "said": instruction, "habit": f"{apartment.target} {apartment.wanted[0]}"}
