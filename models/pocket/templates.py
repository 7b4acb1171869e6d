"""The fixed text of the prompts, in templates/: @NAMES@ stand for what differs from task to task."""
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
PLACE = re.compile(r"@([A-Z_]+)@")
SHORTEST_PHRASE = 24


def load(name):
    with open(os.path.join(FOLDER, name + ".txt")) as file:
        return file.read()


def fill(name, **parts):
    """The template with its places filled; every place needs its part, and the other way round."""
    template = load(name)
    places = set(PLACE.findall(template))
    assert places == set(parts), f"{name}: {sorted(places ^ set(parts))}"
    return PLACE.sub(lambda place: parts[place.group(1)], template)


def names():
    return sorted(file[:-4] for file in os.listdir(FOLDER) if file.endswith(".txt"))


def phrases():
    """The paragraphs that never change, longest first. Each is one token of the vocabulary (bpe.py).

    Lines that show a plan are no part of them: a token must not hold what may be written in a plan, with the end of one action and the
    beginning of the next, or plans could not be cut between actions.
    """
    found = set()
    for name in names():
        for fixed in re.split(PLACE.pattern, load(name))[::2]:
            for paragraph in re.split(r"\n\s*\n|^\{\".*$", fixed, flags=re.M):
                if len(paragraph.strip()) >= SHORTEST_PHRASE:
                    found.add(paragraph.strip("\n"))
    return sorted(found, key=lambda phrase: (-len(phrase), phrase))
