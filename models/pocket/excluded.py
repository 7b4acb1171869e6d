#!/usr/bin/env python3
"""What must not occur in the training text: the object combinations and goals of the benchmarks' own tasks.

    excluded.py DATA > excluded.txt      DATA holds eai_vh/, eai_beh/, wah_nl/ with the benchmarks' prompts and tasks

excluded.txt holds hashes, so that nothing of the benchmarks is copied. Of a prompt of VirtualHome or BEHAVIOR the names of all its
objects count together (without numbers, sorted): a drawn prompt with just these objects is thrown away, whatever its goals. Of a
Watch-And-Help task the goals count together, and each instruction. Problems of domains/tabletop are excluded by their objects in
generate.py.
"""
import hashlib
import json
import os
import re
import sys

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "excluded.txt")


def key(kind, items):
    return hashlib.sha256("\n".join([kind, *sorted(items)]).encode()).hexdigest()[:16]


def said(text):
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def keys_of(request):
    """The keys of a request that generate.py drew."""
    family = request.get("module", "")[:3]
    if family in ("vh-", "beh"):
        return [key({"vh-": "virtualhome", "beh": "behavior"}[family], request["objects"])]
    if "said" in request:
        return [key("watch-and-help goals", request["goals"]), key("watch-and-help words", [said(request["said"])])]
    return []


def load(file=FILE):
    with open(file) as lines:
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


# --- from the benchmarks' files

SECTIONS = [  # folder, file, what begins the objects, how one is written, kind
    ("eai_vh", "as_prompts.json", "Objects in the scene:\n", r"^(\S+), id: \d+, properties: ", "virtualhome"),
    ("eai_vh", "sd_prompts.json", "## Relevant Objects in the Scene\n", r"^\| (\S+)\.\d+ \|", "virtualhome"),
    ("eai_beh", "as_prompts.json", "interactable objects:\n", r"^\{'name': '(\S+)_\d+', 'category'", "behavior"),
    ("eai_beh", "sd_prompts.json", "## Relevant objects in this scene\n", r"^\{'name': '(\S+)\.\d+', 'category'", "behavior"),
]


def prompt_objects(prompt, begin, pattern):
    return [name for name in re.findall(pattern, prompt[prompt.rindex(begin):], re.M) if name != "character"]


def prompt_keys(data):
    for folder, file, begin, pattern, kind in SECTIONS:
        with open(os.path.join(data, folder, file)) as prompts:
            for entry in json.load(prompts):
                yield key(kind, prompt_objects(entry["llm_prompt"], begin, pattern))


def task_keys(data):
    with open(os.path.join(data, "wah_nl", "tasks.jsonl")) as tasks:
        for line in tasks:
            task = json.loads(line)
            goals = []
            for goal in task["goal"]:
                words = [goal["object"], goal["target"]] if "object" in goal else [goal["target"]]
                goals += [f"{goal['rel']}({', '.join(words)})"] * goal.get("count", 1)
            yield key("watch-and-help goals", goals)
            for text in task["instructions"]:
                yield key("watch-and-help words", [said(text)])


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        raise SystemExit("usage: excluded.py DATA, the folder that holds eai_vh/, eai_beh/ and wah_nl/")
    keys = sorted({*prompt_keys(sys.argv[1]), *task_keys(sys.argv[1])})
    print("# Hashes of the benchmarks' object combinations and goals, which no training example has: see excluded.py.")
    print("\n".join(keys))


if __name__ == "__main__":
    main()
