"""Instructions and the goals that they mean, for the goal stage (docs/goals.md).

The domains are of three kinds: invented, with names that do not exist, so that nothing but copying helps; put together from predicates that
people have words for (goal_words.py); and those of files, with objects of their own or with drawn ones. Of a domain the prompt shows
predicates, objects and facts, and no action: so a domain is written here with actions that set and unset what changes, and everything
can be reached.

A condition is said first and written second: as a fact, with "not", "all", "no", "some", "at least n", "either", "always", "never", "at some
time", "before". Goals come in the order in which they are said.
"""
import glob
import os
import re
import zlib

import goal_words as gw
import words

KINDS = [("fact", 52), ("list", 12), ("not", 8), ("all", 8), ("none", 3), ("some", 3), ("at-least", 4), ("either", 4), ("always", 3), ("never", 4),
         ("sometime", 2), ("before", 4)]
VARIABLES = ["x y z", "a b c", "o p q", "obj loc to", "what where who", "x1 x2 x3", "r s t"]


# --- domains ------------------------------------------------------------------------------------------------------------------


class Predicate:
    def __init__(self, name, arguments, changes=True, be=None, do=(), undo=(), avoid=()):
        self.name, self.arguments, self.changes = name, arguments, changes
        self.be, self.do, self.undo, self.avoid = be, do, undo, avoid


class Domain:
    """types: name -> the one above it, or nothing; none at all where the domain has no types."""

    def __init__(self):
        self.types, self.predicates, self.objects, self.facts = {}, [], [], []

    def is_a(self, kind, above):
        while kind and kind != above:
            kind = self.types.get(kind)
        return kind == above or above == "object"

    def of(self, kind):
        return [name for name, own in self.objects if not self.types or self.is_a(own, kind)]

    def domain_text(self, rng):
        typed = bool(self.types)
        text = "(define (domain d)\n(:requirements :adl)\n"
        if typed:
            text += "(:types " + " ".join(f"{kind} - {above or 'object'}" for kind, above in self.types.items()) + ")\n"
        names = rng.choice(VARIABLES).split()
        shown, actions = [], ""
        for i, predicate in enumerate(self.predicates):
            variables = " ".join(f"?{names[k]}{f' - {kind}' if typed else ''}" for k, kind in enumerate(predicate.arguments))
            shown.append(f"({predicate.name}{' ' if variables else ''}{variables})")
            if predicate.changes:
                atom = "(" + " ".join([predicate.name] + [f"?{names[k]}" for k in range(len(predicate.arguments))]) + ")"
                actions += f"(:action do{i} :parameters ({variables}) :precondition () :effect {atom})\n"
                actions += f"(:action undo{i} :parameters ({variables}) :precondition () :effect (not {atom}))\n"
        return text + f"(:predicates {' '.join(shown)})\n{actions})"

    def problem_text(self):
        objects = " ".join(f"{name} - {kind}" if self.types else name for name, kind in self.objects)
        facts = " ".join(f"({' '.join(fact)})" for fact in self.facts)
        return f"(define (problem p) (:domain d)\n(:objects {objects})\n(:init {facts}))"


def invent(rng, shortest=1):
    return "".join(rng.choice(words.ONSETS) + rng.choice(words.VOWELS) + rng.choice(words.CODAS) for _ in range(rng.choice([shortest, 2, 2, 3])))


NOUNS = sorted({*words.FOOD, *words.ITEMS, *words.PLATES, *words.POTS, *words.BOXES, *words.CABINETS, *words.ROOMS, *words.DEVICES, *words.SEEDS,
                *(name for names in gw.KINDS.values() for name in names)})


class Namer:
    """Names of objects; those of one kind often look alike."""

    def __init__(self, rng, taken):
        self.rng, self.taken = rng, taken
        self.mark = rng.choice(["_", "_", "-", "-", ""])

    def family(self, kind):
        """A function that gives a new name each time."""
        rng = self.rng
        style = rng.random()
        noun = kind if rng.random() < 0.6 else rng.choice(NOUNS) if rng.random() < 0.6 else invent(rng)
        noun = re.sub(r"[^a-z]", "", noun) or "x"
        start = rng.choice([0, 1, 1, rng.randrange(2, 40)])

        def draw(i):
            if style < 0.26:
                return f"{noun}{start + i}"
            if style < 0.38:
                return f"{noun}{self.mark}{start + i}"
            if style < 0.48:
                return f"{noun[0]}{start + i}"
            if style < 0.54:
                return f"{noun[0]}{rng.randrange(4)}{self.mark or '-'}{rng.randrange(4)}"
            if style < 0.58:
                return f"{noun[:3]}{self.mark or '-'}x{rng.randrange(5)}{self.mark or '-'}y{rng.randrange(5)}"
            if style < 0.62:
                return f"{noun}{'abcdefghijklmnopq'[i % 17]}"
            if style < 0.66:
                return f"{noun[:3]}{rng.randrange(10, 100)}"
            if style < 0.82:
                mark = self.mark or "_"
                return mark.join([rng.choice(words.COLOURS + words.LOOKS), rng.choice([noun, rng.choice(NOUNS)])]) if rng.random() < 0.7 else rng.choice(NOUNS)
            if style < 0.9:
                return (self.mark or "_").join([rng.choice(NOUNS), rng.choice(NOUNS)]) if rng.random() < 0.5 else rng.choice(NOUNS)
            return invent(rng)

        def new(i):
            for _ in range(20):
                name = draw(i)
                if name not in self.taken:
                    break
                i += 1
            while name in self.taken:
                name = invent(rng, 3) + str(rng.randrange(100))
            self.taken.add(name)
            return name

        return new


def add_objects(rng, domain, kinds):
    namer = Namer(rng, {predicate.name for predicate in domain.predicates} | set(domain.types) | {"object"})
    few = rng.choice([2, 3, 3, 4, 4, 5, 7])
    for kind in kinds:
        new = namer.family(kind)
        for i in range(rng.randrange(1, few + 1) + (1 if rng.random() < 0.6 else 0)):
            domain.objects.append((new(i), kind))
    if rng.random() < 0.3:
        rng.shuffle(domain.objects)


def add_facts(rng, domain):
    most = rng.choice([4, 6, 8, 8, 10, 12])
    for predicate in domain.predicates:
        ranges = [domain.of(kind) for kind in predicate.arguments]
        if any(not members for members in ranges):
            continue
        if not ranges:
            if rng.random() < 0.5:
                domain.facts.append((predicate.name,))
            continue
        subjects = list(ranges[0])
        if len(ranges) == 1 and rng.random() < 0.4:
            subjects = []
        rng.shuffle(subjects)
        found = {(predicate.name, subject, *(rng.choice(members) for members in ranges[1:])) for subject in subjects[: rng.randrange(1, most + 1)]}
        domain.facts += sorted(found, key=lambda fact: rng.random())
    if rng.random() < 0.3:
        rng.shuffle(domain.facts)


def classify(rng, domain, kinds):
    """Types as predicates that never change, for a domain without types."""
    if rng.random() < 0.2:
        return
    static = [Predicate(kind, ["object"], changes=False) for kind in kinds]
    if rng.random() < 0.5:
        domain.predicates = static + domain.predicates
    else:
        domain.predicates += static
    facts = [(kind, name) for name, kind in domain.objects]
    domain.facts = facts + domain.facts if rng.random() < 0.6 else domain.facts + facts


def spoken_domain(rng, invented):
    """A domain of predicates that people have words for; with `invented`, of names that do not exist."""
    domain, of_kind, names = Domain(), {}, set()

    def kind_of(general):
        if general not in of_kind or (invented and rng.random() < 0.3):
            for _ in range(30):
                own = invent(rng) if invented and rng.random() < 0.6 else rng.choice(NOUNS) if invented else rng.choice(gw.KINDS[general])
                if own not in of_kind.values():
                    break
            of_kind[general] = own
        return of_kind[general]

    def new_name(options):
        fresh = [name for name in options if name not in names]
        if not fresh:
            return None
        name = rng.choice(fresh)
        names.add(name)
        return name

    used = []
    for entry in rng.sample(gw.PREDICATES, rng.randrange(2, 7)):
        # What two predicates have in common cannot be told apart by words.
        if any(entry[1] == other[1] and (set(entry[0]) & set(other[0]) or set(entry[2]) & set(other[2])) for other in used):
            continue
        used.append(entry)
        arguments = [kind_of(general) for general in entry[1]]
        if invented:
            name = new_name([invent(rng) if rng.random() < 0.7 else rng.choice(["-", "_"]).join([rng.choice(NOUNS), invent(rng)]) for _ in range(3)])
            domain.predicates.append(Predicate(name, arguments))
            continue
        name = new_name(entry[0])
        if name:
            domain.predicates.append(Predicate(name, arguments, True, *entry[2:]))
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        name = new_name(gw.STATIC if not invented else [invent(rng)])
        kinds = list(of_kind.values())
        if name and kinds:
            domain.predicates.append(Predicate(name, [rng.choice(kinds) for _ in range(rng.choice([1, 2, 2, 2]))], changes=False))
    kinds = sorted({kind for predicate in domain.predicates for kind in predicate.arguments} | set(list(of_kind.values())[:1] or ["thing"]))
    kinds = [kind for kind in kinds if kind not in names]
    if len(kinds) < len({kind for predicate in domain.predicates for kind in predicate.arguments}):
        return None  # a type with the name of a predicate would be a class with two meanings
    rng.shuffle(kinds)
    typed = rng.random() < 0.6
    if typed:
        domain.types = {kind: None for kind in kinds}
        if len(kinds) > 2 and rng.random() < 0.25:
            above = rng.choice([kind for kind in ("thing", "entity", "locatable", "movable", invent(rng)) if kind not in kinds and kind not in names])
            for kind in rng.sample(kinds, 2):
                domain.types[kind] = above
            domain.types = {above: None, **domain.types}
            below = [kind for kind in kinds if domain.types[kind] == above]
            for predicate in domain.predicates:
                if rng.random() < 0.6:
                    predicate.arguments = [above if kind in below else kind for kind in predicate.arguments]
    add_objects(rng, domain, kinds)
    add_facts(rng, domain)
    if not typed:
        for predicate in domain.predicates:
            predicate.arguments = ["object"] * len(predicate.arguments)
        domain.known = {predicate.name: None for predicate in domain.predicates}
        classify(rng, domain, kinds)
    if rng.random() < 0.5:
        rng.shuffle(domain.predicates)
    return domain


def read(text):
    """The first list of a PDDL text, as nested lists of names in small letters."""
    text = "\n".join(line.split(";")[0] for line in text.lower().splitlines())
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
            if len(stack) == 1:
                return done
        else:
            stack[-1].append(token)
    raise ValueError("a parenthesis is missing")


def typed_list(items):
    """(name, type) each, of "a b - t c"; ValueError for a choice of types, or a dash that is no word of its own."""
    if any(isinstance(item, str) and item.startswith("-") and item != "-" for item in items):
        raise ValueError("a dash")
    out, waiting, i = [], [], 0
    while i < len(items):
        if items[i] == "-":
            if not isinstance(items[i + 1], str):
                raise ValueError("a choice of types")
            out += [(name, items[i + 1]) for name in waiting]
            waiting = []
            i += 2
        else:
            waiting.append(items[i])
            i += 1
    return out + [(name, None) for name in waiting]


def changed(tree):
    """Names of predicates in the effects of an action."""
    if not isinstance(tree, list) or not tree:
        return set()
    if tree[0] in ("and", "not", "when", "forall", "at"):
        return set().union(*(changed(part) for part in (tree[1:] if tree[0] != "when" else tree[2:])))
    return {tree[0]} if isinstance(tree[0], str) else set()


class FileDomain:
    """What a domain file says about names: types, predicates and which of them change; and problems beside it."""

    def __init__(self, file):
        with open(file, errors="replace") as text:
            tree = read(text.read())
        sections = {part[0]: part[1:] for part in tree[1:] if isinstance(part, list) and part and part[0] != ":action"}
        self.types = {name: above if above != "object" else None for name, above in typed_list(sections.get(":types", [])) if name != "object"}
        for above in [above for above in self.types.values() if above and above not in self.types]:
            self.types[above] = None
        for kind in self.types:
            seen = set()
            while kind:
                if kind in seen:
                    raise ValueError("a type above itself")
                seen.add(kind)
                kind = self.types[kind]
        self.constants = typed_list(sections.get(":constants", []))
        moving = set()
        for action in tree[1:]:
            if isinstance(action, list) and action and action[0] in (":action", ":durative-action") and ":effect" in action:
                moving |= changed(action[action.index(":effect") + 1])
        self.predicates = []
        for predicate in sections.get(":predicates", []):
            arguments = [kind or "object" for _, kind in typed_list(predicate[1:])]
            self.predicates.append((predicate[0], arguments, predicate[0] in moving))
        if not any(moves for _, _, moves in self.predicates) or any(len(arguments) > 3 for _, arguments, _ in self.predicates):
            raise ValueError("nothing to say about it")
        known = {name for name, _, _ in self.predicates}
        self.problems = []
        for problem in sorted(glob.glob(os.path.join(os.path.dirname(file), "*.pddl"))):
            with open(problem, errors="replace") as text:
                tree = read(text.read())
            parts = {part[0]: part[1:] for part in tree[1:] if isinstance(part, list) and part}
            if ":init" not in parts or ":objects" not in parts:
                continue
            objects = self.constants + typed_list(parts[":objects"])
            facts = [tuple(fact) for fact in parts[":init"] if isinstance(fact, list) and fact and fact[0] in known and all(isinstance(p, str) for p in fact)]
            names = {name for name, _ in objects}
            facts = [fact for fact in facts if names.issuperset(fact[1:])]
            if len(objects) <= 30 and len(facts) <= 90:
                self.problems.append((objects, facts))

    def draw(self, rng):
        domain = Domain()
        domain.types = dict(self.types)
        domain.predicates = [Predicate(name, list(arguments), moves) for name, arguments, moves in self.predicates]
        if self.problems and rng.random() < 0.6:
            objects, facts = rng.choice(self.problems)
            domain.objects = [(name, kind or "object") for name, kind in objects]
            domain.facts = list(facts)
            if rng.random() < 0.7:  # under other names
                namer = Namer(rng, {name for name, _, _ in self.predicates} | set(self.types))
                families = {}
                new = {}
                for name, kind in domain.objects:
                    families.setdefault(kind, namer.family(kind))
                    new[name] = families[kind](len(new))
                domain.objects = [(new[name], kind) for name, kind in domain.objects]
                domain.facts = [(fact[0], *(new.get(part, part) for part in fact[1:])) for fact in domain.facts]
        else:
            kinds = [kind for kind in self.types if kind not in self.types.values()] or ["thing", "item"]
            if len(kinds) > 6:
                kinds = rng.sample(kinds, 6)
            add_objects(rng, domain, kinds)
            add_facts(rng, domain)
            domain.facts = domain.facts[:60]
        if self.types and any(kind not in self.types for _, kind in domain.objects):
            return None
        return domain


# --- saying it ----------------------------------------------------------------------------------------------------------------


def plural(noun):
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def contrary(conditions):
    """What cannot be asked for together with one of these."""
    out = set()
    for text in conditions:
        if text.startswith("(not "):
            out |= {text[5:-1], f"(always {text[5:-1]})"}
        elif text.startswith("(always (not "):
            out |= {text[13:-2], f"(sometime {text[13:-2]})"}
        elif text.startswith(("(always ", "(sometime ")):
            atom = text[text.index(" ") + 1:-1]
            out |= {f"(not {atom})" if text[1] == "a" else "", f"(always (not {atom}))"}
        else:
            out |= {f"(not {text})", f"(always (not {text}))"}
    return out


def plain(name):
    return name.replace("_", " ").replace("-", " ")


class Speaker:
    def __init__(self, rng, domain):
        self.rng, self.domain = rng, domain
        self.apart = rng.random()  # how often names are said with blanks
        self.article = rng.choice([0, 0.1, 0.5, 0.9])
        self.holds = set(domain.facts)
        self.movers = [predicate for predicate in domain.predicates if predicate.changes and all(domain.of(kind) for kind in predicate.arguments)]
        self.classes = self.find_classes()

    def find_classes(self):
        out = []
        if self.domain.types:
            out = [(kind, f"(?x - {kind})", "", set(self.domain.of(kind))) for kind in self.domain.types]
        else:
            out = [("thing", "(?x)", "", {name for name, _ in self.domain.objects})]
        for predicate in self.domain.predicates:
            if not predicate.changes and len(predicate.arguments) == 1:
                out.append((predicate.name, "(?x)", f"({predicate.name} ?x)", {fact[1] for fact in self.domain.facts if fact[0] == predicate.name}))
        return [one for one in out if len(one[3]) >= 2]

    def name(self, name):
        spoken = plain(name) if self.rng.random() < self.apart else name
        return ("the " if self.rng.random() < self.article else "") + spoken

    def listed(self, names):
        return ", ".join(names[:-1]) + (" and " if self.rng.random() < 0.9 else ", ") + names[-1] if len(names) > 1 else names[0]

    def draw_fact(self, among=None):
        predicate = self.rng.choice(among or self.movers)
        ranges = [self.domain.of(kind) for kind in predicate.arguments]
        for _ in range(5):
            chosen = [self.rng.choice(members) for members in ranges]
            if len(set(chosen)) == len(chosen):
                return predicate, chosen
        return None

    # "is", "should be", "must not be"; behind several things "are"
    def verb(self, form, word, many):
        pick, base = self.rng.choice, word or "be"
        now = ("are" if many else "is") if not word else (word if many else word + "s")
        have = "have" if many else "has"
        if form == "yes":
            return pick([now, now, f"should {base}", f"should {base}", f"must {base}", f"{have} to {base}", f"{'need' if many else 'needs'} to {base}", f"shall {base}"]
                        + ([f"{now} to be"] if not word else []))
        if form == "no":
            return pick([f"should not {base}", f"must not {base}", f"may not {base}", f"shouldn't {base}", f"should no longer {base}", f"{have} not to {base}",
                         f"{now} not" if not word else f"{'do' if many else 'does'} not {word}"])
        if form == "never":
            return pick([f"must never {base}", f"should never {base}", f"may never {base}", f"is never to {base}" if not word else f"never {now}",
                         f"must at no time {base}", f"never {now}" if word else f"{now} never"])
        if form == "always":
            return pick([f"must always {base}", f"should always {base}", f"{have} to {base} all the time",
                         "must stay" if not word else f"must always {base}", "should remain" if not word else f"must at all times {base}",
                         "stays" if not word and not many else f"must always {base}"])
        return pick([f"should at some point {base}", f"must {base} at some time,", f"must at some time {base}", f"should once {base}", f"must {base}, at least for a while,"])

    def statement(self, predicate, arguments, form, many=False):
        """"the ball should be at roomb"; arguments are said already."""
        patterns = predicate.be if predicate.be and self.rng.random() < 0.75 else None
        spoken = plain(predicate.name) if self.rng.random() < 0.85 else predicate.name
        if not patterns:
            patterns = [["it @ {p}"], ["{1} @ {p}"], ["{1} @ {p} {2}"], ["{1} @ {p} {2} {3}"]][len(predicate.arguments)]
        text = self.rng.choice(patterns).replace("@@", "it @")
        text = re.sub(r"@(\w*)", lambda found: self.verb(form, found.group(1), many and text.startswith("{1}")), text)
        return self.fill(text, spoken, arguments)

    @staticmethod
    def fill(text, spoken, arguments):
        parts = {"p": spoken, **{str(i + 1): argument for i, argument in enumerate(arguments)}}
        return re.sub(r"\{(\w)\}", lambda place: parts[place.group(1)], text)

    def order(self, predicate, arguments, options=None):
        spoken = plain(predicate.name)
        options = list(predicate.do) if options is None else list(options)
        if not options:
            rest = "{p}" + "".join(f" {{{i + 1}}}" for i in range(1, len(arguments)))
            options = ["get {1} " + rest, "make {1} " + rest, "I want {1} " + rest, "have {1} " + rest] if arguments else ["{p}", "make it so: {p}", "in the end: {p}"]
        return self.fill(self.rng.choice(options), spoken, arguments)

    def whole(self, clause, is_order):
        return self.rng.choice(gw.BEFORE_ORDER if is_order else gw.BEFORE_STATEMENT) + clause

    def say(self, predicate, arguments, form="yes", many=False):
        if form == "yes" and self.rng.random() < (0.55 if predicate.do else 0.3):
            return self.whole(self.order(predicate, arguments), True)
        return self.whole(self.statement(predicate, arguments, form, many), False)

    # --- conditions: (what is said, what is written), or nothing

    def atom(self, predicate, objects):
        return "(" + " ".join([predicate.name, *objects]) + ")"

    def fact(self):
        drawn = self.draw_fact()
        return drawn and (self.say(drawn[0], [self.name(name) for name in drawn[1]]), [self.atom(*drawn)])

    def list(self):
        drawn = self.draw_fact([predicate for predicate in self.movers if predicate.arguments] or None)
        if not drawn or not drawn[1]:
            return None
        predicate, objects = drawn
        at = 0 if self.rng.random() < 0.85 else self.rng.randrange(len(objects))
        others = [name for name in self.domain.of(predicate.arguments[at]) if name not in objects]
        self.rng.shuffle(others)
        names = [objects[at]] + others[: self.rng.randrange(1, 4)]
        said = [self.name(name) for name in objects]
        said[at] = self.listed([self.name(name) for name in names])
        if self.rng.random() < 0.15 and len(names) == 2:
            said[at] = "both " + said[at]
        no = self.rng.random() < 0.1
        atoms = [self.atom(predicate, objects[:at] + [name] + objects[at + 1:]) for name in names]
        return self.say(predicate, said, "no" if no else "yes", at == 0 and len(names) > 1), [f"(not {atom})" for atom in atoms] if no else atoms

    def not_(self):
        drawn = self.draw_fact()
        if not drawn:
            return None
        predicate, objects = drawn
        said = [self.name(name) for name in objects]
        if predicate.undo and self.rng.random() < 0.5:
            text = self.whole(self.order(predicate, said, predicate.undo), True)
        elif self.rng.random() < 0.2:
            text = self.rng.choice(["do not leave {}", "don't let it be so that {}", "not: {}", "it must not be so that {}"]).format(
                self.statement(predicate, said, "yes").replace(" is ", " ").replace(" should be ", " ").replace(" must be ", " "))
        else:
            text = self.whole(self.statement(predicate, said, "no"), False)
        return text, [f"(not {self.atom(predicate, objects)})"]

    def quantified(self, how):
        predicate = self.rng.choice(self.movers)
        if not predicate.arguments:
            return None
        at = 0 if self.rng.random() < 0.75 else self.rng.randrange(len(predicate.arguments))
        members = set(self.domain.of(predicate.arguments[at]))
        fitting = [one for one in self.classes if one[3] <= members]
        if not fitting:
            return None
        noun, binder, guard, own = self.rng.choice(fitting)
        objects = [self.rng.choice(self.domain.of(kind)) for kind in predicate.arguments]
        if len(set(objects)) < len(objects):
            return None
        said = [self.name(name) for name in objects]
        objects[at] = "?x"
        atom = self.atom(predicate, objects)
        single = plain(noun)
        number = self.rng.randrange(2, 5)
        if how == "at-least" and number >= len(own):
            return None
        pattern = self.rng.choice({"all": gw.ALL, "none": gw.NONE, "some": gw.SOME, "at-least": gw.AT_LEAST}[how])
        many = pattern.startswith(("all", "at least {n}", "{n}", "no fewer", "not less"))
        said[at] = pattern.replace("{s}", plural(single)).replace("{}", single).replace("{n}", self.rng.choice([str(number), gw.NUMBERS[number]]))
        if how == "none":
            text = self.whole(self.statement(predicate, said, "yes", many), False)
        else:
            text = self.say(predicate, said, "yes", many)
        if how in ("all", "none"):
            inner = f"(not {atom})" if how == "none" else atom
            return text, [f"(forall {binder} " + (f"(imply {guard} {inner}))" if guard else f"{inner})")]
        head = "exists" if how == "some" else f"forn ({number})"
        return text, [f"({head} {binder} " + (f"(and {guard} {atom}))" if guard else f"{atom})")]

    def either(self):
        drawn = self.draw_fact([predicate for predicate in self.movers if predicate.arguments] or None)
        if not drawn or not drawn[1]:
            return None
        predicate, objects = drawn
        at = self.rng.randrange(len(objects))
        others = [name for name in self.domain.of(predicate.arguments[at]) if name not in objects]
        if not others:
            return None
        names = [objects[at], self.rng.choice(others)]
        said = [self.name(name) for name in objects]
        first, second = self.name(names[0]), self.name(names[1])
        said[at] = self.rng.choice(["either {} or {}", "{} or {}", "one of {} and {}"]).format(first, second)
        place = {name: i for i, (name, _) in enumerate(self.domain.objects)}
        names.sort(key=place.get)
        atoms = [self.atom(predicate, objects[:at] + [name] + objects[at + 1:]) for name in names]
        return self.say(predicate, said), [f"(or {atoms[0]} {atoms[1]})"]

    def always(self):
        facts = [fact for fact in self.domain.facts if any(predicate.name == fact[0] for predicate in self.movers)]
        if not facts:
            return None
        fact = self.rng.choice(facts)
        predicate = next(predicate for predicate in self.movers if predicate.name == fact[0])
        said = [self.name(name) for name in fact[1:]]
        pick = self.rng.random()
        if pick < 0.35 and said:
            rest = "{p}" + "".join(f" {{{i + 1}}}" for i in range(1, len(said)))
            text = self.fill(self.rng.choice(["keep {1} " + rest, "leave {1} " + rest + " all the time", "keep {1} " + rest + " throughout"]), plain(predicate.name), said)
        elif pick < 0.6:
            text = self.rng.choice(["all the time ", "at all times ", "throughout, ", "always: "]) + self.statement(predicate, said, "yes")
        else:
            text = self.whole(self.statement(predicate, said, "always"), False)
        return text, [f"(always {self.atom(predicate, fact[1:])})"]

    def never(self):
        drawn = self.draw_fact()
        if not drawn or (drawn[0].name, *drawn[1]) in self.holds:
            return None
        predicate, objects = drawn
        said = [self.name(name) for name in objects]
        if predicate.avoid and self.rng.random() < 0.6:
            text = self.order(predicate, said, predicate.avoid)
        elif self.rng.random() < 0.2:
            text = self.rng.choice(["at no time ", "never: "]) + self.statement(predicate, said, "yes")
        else:
            text = self.whole(self.statement(predicate, said, "never"), False)
        return text, [f"(always (not {self.atom(predicate, objects)}))"]

    def sometime(self):
        drawn = self.draw_fact()
        if not drawn or (drawn[0].name, *drawn[1]) in self.holds:
            return None
        said = [self.name(name) for name in drawn[1]]
        if self.rng.random() < 0.5:
            text = self.rng.choice(["at some point ", "at some time ", "at some time on the way ", "once, on the way, "]) + self.statement(drawn[0], said, "yes")
        else:
            text = self.whole(self.statement(drawn[0], said, "sometime"), False)
        return text, [f"(sometime {self.atom(*drawn)})"]

    def before(self):
        later, earlier = self.draw_fact(), self.draw_fact()
        if not later or not earlier or later == earlier or (later[0].name, *later[1]) in self.holds:
            return None
        if later[0] != earlier[0] and self.rng.random() < 0.5:  # about the same thing, as people would
            if later[0].arguments and later[0].arguments == earlier[0].arguments:
                earlier = (earlier[0], list(later[1]))
        texts = []
        for predicate, objects in (later, earlier):
            said = [self.name(name) for name in objects]
            is_order = predicate.do and self.rng.random() < 0.5
            texts.append((self.order(predicate, said) if is_order else self.statement(predicate, said, "yes"), is_order))
        (last, _), (first, _) = texts
        text = self.rng.choice(["before {l}, {f}", "before {l}: first {f}", "{f} before {l}", "{l} only after {f}", "{f}, and only then {l}", "{l}, but {f} first"])
        return text.format(l=last, f=first), [f"(sometime-before {self.atom(*later)} {self.atom(*earlier)})"]

    def condition(self):
        kind = self.rng.choices([name for name, _ in KINDS], [weight for _, weight in KINDS])[0]
        if kind in ("all", "none", "some", "at-least"):
            return self.quantified(kind)
        return {"not": self.not_}.get(kind, getattr(self, kind, None))()

    def pair(self):
        """(instruction, goal), or nothing."""
        said, written = [], []
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 4, 5])):
            drawn = self.condition()
            if drawn and not set(drawn[1]) & set(written) and not contrary(drawn[1]) & set(written):
                if len(written) + len(drawn[1]) <= 8:
                    said.append(drawn[0])
                    written += drawn[1]
        if not said:
            return None
        text, joint = said[0], self.rng.choice(gw.JOINTS)
        for part in said[1:]:
            joint = joint if self.rng.random() < 0.7 else self.rng.choice(gw.JOINTS)
            text += joint + (part[0].upper() + part[1:] if joint.startswith(". ") and self.rng.random() < 0.6 else part)
        if self.rng.random() < 0.08:
            text = self.rng.choice(gw.OPENINGS) + text
        if self.rng.random() < 0.35:
            text = text[0].upper() + text[1:]
        if self.rng.random() < 0.45:
            text += "."
        return text, f"(and {' '.join(written)})"


# --- requests -----------------------------------------------------------------------------------------------------------------

# What nothing is learned from, below the folders that --domains names: domains of these names, wherever they come from, and a quarter of the
# others. scripts/measure_goals is tried on them.
KEPT_APART = re.compile(r"briefcase|ferry|gripper|hanoi|logisti|miconic|elevator|satellite|visitall")


def is_kept_apart(file):
    folder = os.path.basename(os.path.dirname(file))
    return bool(KEPT_APART.search(folder)) or zlib.crc32(folder.encode()) % 4 == 1


def domain_files(folders):
    """The project's own domains, and those below other folders."""
    here = os.path.relpath(os.path.dirname(os.path.abspath(__file__)))
    files = ["domains/tabletop/domain.pddl", *(f"domains/{name}/environment.pddl" for name in (
        "behavior-actions", "behavior-subgoals", "virtualhome-actions", "virtualhome-subgoals", "watch-and-help"))]
    files += sorted(glob.glob(os.path.join(here, "domains", "*.pddl")))
    for folder in folders:
        files += [file for file in sorted(glob.glob(os.path.join(folder, "**", "*domain*.pddl"), recursive=True)) if not is_kept_apart(file)]
    return [file for file in files if os.path.exists(file)]


def read_files(files):
    """Those that can be read."""
    domains = []
    for file in files:
        try:
            domains.append(FileDomain(file))
        except (ValueError, IndexError, KeyError, TypeError, AttributeError):
            continue
    return domains


def read_domains(folders, known={}):
    """The same for folders, once."""
    key = tuple(folders)
    if key not in known:
        known[key] = read_files(domain_files(folders))
    return known[key]


FOLDERS = []  # with further domains; generate.py's --domains


def set_folders(folders):
    FOLDERS[:] = folders


def ask_for(rng, domain):
    """A request for something in this domain, or nothing."""
    if not domain or not domain.objects:
        return None
    speaker = Speaker(rng, domain)
    drawn = speaker.pair() if speaker.movers else None
    if not drawn or not drawn[0].isascii():
        return None
    return {"domain_text": domain.domain_text(rng), "problem": domain.problem_text(), "instruction": drawn[0], "goal": drawn[1], "system": "", "habit": ""}


def draw(rng):
    files = read_domains(FOLDERS)
    while True:
        kind = rng.random()
        if kind < 0.2 and files:
            domain = rng.choice(files).draw(rng)
        else:
            domain = spoken_domain(rng, kind < 0.5)
        request = ask_for(rng, domain)
        if request:
            return request
