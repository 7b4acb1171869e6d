#!/usr/bin/env python3
"""Writes the examples that the pocket planner learns from.

    generate.py --examples PROGRAM --out FOLDER [--scale 1.0] [--jobs N] [--seconds S] [--mistakes vh-as=0.4,pddl=0.2] [--more NAME]
        [--domains FOLDER,...]

PROGRAM is examples.cc, compiled. Run it in the root of the source tree. FOLDER gets train.jsonl, valid.jsonl and report.txt; those
of an earlier run stay as they are until all is done. A line
holds "module", "system" (a file of templates/, or nothing), "prompt", "plan", "valid" and "mistake". In prompts the paragraphs that
never change stand as single characters (templates.phrases, in order, from U+E000 on): bpe.py makes one token of each.

Everything follows from the seed: chunk i of a module is made by Random("<seed> <module> <i>"), whatever the number of jobs. Chunks
of all modules take turns, always in the same order, so that a run cut short by --seconds has its modules in proportion. Where it was
cut depends on the machine; the report says after how many chunks, and --chunks N draws just as many. --more NAME draws others than a
run without it: chunk "NAME i".
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import behavior  # noqa: E402
import bpe  # noqa: E402
import excluded  # noqa: E402
import goal_pairs  # noqa: E402
import mistakes  # noqa: E402
import support  # noqa: E402
import tabletop  # noqa: E402
import templates  # noqa: E402
import virtualhome  # noqa: E402
import watch_and_help  # noqa: E402

SEED = 7
CHUNK = 100
VALID = 60  # examples of each module
# Plans that reach one goal after another, as the prompt lists them; the others reach all at once.
GOAL_BY_GOAL = {"beh-as", "beh-sd", "wah"}
# Requests per module at scale 1; those without a plan are left out.
COUNTS = {"vh-as": 45000, "vh-sd": 25000, "beh-as": 120000, "beh-sd": 120000, "wah": 105000, "wah-goal": 40000, "pddl": 60000, "goal": 500000}


def draw_pddl(rng, shipped=[]):
    """A task with an instruction, in the words of make_prompt."""
    if not shipped:
        shipped += tabletop.shipped_objects()
    scene = None
    while not scene:
        scene = tabletop.draw(rng, shipped)
    domain, format_name, instruction, problem = scene
    goals = problem[problem.index("(:goal"):].replace("(", " ").replace(")", " ").split()[2:5]
    return {"domain": domain, "format": format_name, "instruction": instruction, "problem": problem, "system": "", "habit": " ".join(goals)}


DRAW = {"vh-as": lambda rng: virtualhome.draw(rng, "vh-as"), "vh-sd": lambda rng: virtualhome.draw(rng, "vh-sd"),
        "beh-as": lambda rng: behavior.draw(rng, "beh-as"), "beh-sd": lambda rng: behavior.draw(rng, "beh-sd"),
        "wah": watch_and_help.draw_plan, "wah-goal": watch_and_help.draw_goal, "pddl": draw_pddl, "goal": goal_pairs.draw}
PHRASES = templates.phrases()


def folded(text):
    return bpe.fold(text, PHRASES)


def unfolded(text):
    return bpe.FOLDED.sub(lambda c: PHRASES[ord(c.group()) - bpe.FIRST_PHRASE], text)


def draw_requests(module, chunk, count, rate, banned, tally):
    """Requests with their mistakes; those that come too close to a benchmark's task are left out."""
    rng = random.Random(f"{SEED} {module} {chunk}")
    requests = []
    for i in range(count):
        request = DRAW[module](rng)
        kind, seed = mistakes.choose(rng, SEED, module, request["habit"], rate)
        if any(key in banned for key in excluded.keys_of(request)):
            tally["excluded"] += 1
            continue
        request.update(id=i, kind=kind, seed=seed, in_order=module in GOAL_BY_GOAL)
        if kind and kind not in mistakes.IN_TEXT:
            request["mistake"] = kind
        requests.append(request)
    return requests


def ask(program, requests):
    fields = ("id", "module", "prompt", "domain", "domain_text", "goal", "problem", "format", "instruction", "mistake", "seed", "in_order")
    lines = "".join(json.dumps({k: r[k] for k in fields if k in r}) + "\n" for r in requests)
    try:
        result = subprocess.run([program], input=lines, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"generate.py: {program} cannot be run: {error.strerror}")
    if result.returncode != 0:
        raise SystemExit(f"generate.py: {program} failed with {result.returncode}: {result.stderr.strip()}")
    try:
        answers = [json.loads(line) for line in result.stdout.splitlines()]
    except ValueError:
        answers = []
    if len(answers) < len(requests):
        raise SystemExit(f"generate.py: {program} does not answer as examples.cc does")
    return answers


def goal_answer(request):
    """As examples.cc would answer, for a question that came with its answer: goals."""
    goals = request["goals"]
    if request["kind"] and request["kind"] not in mistakes.IN_TEXT:
        goals = mistakes.spoil_goals(request["kind"], request["seed"], goals, sorted(watch_and_help.THINGS))
    return {"id": request["id"], "prompt": request["prompt"], "plan": json.dumps({"goal": goals}),
            "valid": sorted(goals) == sorted(request["goals"]), "spoiled": goals != request["goals"]}


def make_chunk(job):
    """(module, lines for the file, tally) of one chunk."""
    program, module, chunk, count, rate = job
    started, tally = time.process_time(), collections.Counter(drawn=count)
    before = os.times()
    requests = draw_requests(module, chunk, count, rate, excluded.load(), tally)
    known = [r for r in requests if "plan" in r]  # the answer came with the question
    answers = ask(program, [r for r in requests if "plan" not in r]) + [goal_answer(r) for r in known]
    by_id = {r["id"]: r for r in requests}
    lines, unread = [], set()
    for answer in answers:
        if "error" in answer:
            tally["no plan" if answer["error"] == "no plan" else "unread"] += 1
            if answer["error"] != "no plan":
                unread.add(answer["error"])
            continue
        request = by_id[answer["id"]]
        plan, kind = answer["plan"], request["kind"]
        if kind and not answer["spoiled"]:  # in the text; also where the plan left no room for the mistake asked for
            kind = kind if kind in mistakes.IN_TEXT else "number"
            plan = mistakes.spoil_text(kind, request["seed"], plan)
        spoiled = answer["spoiled"] or plan != answer["plan"]
        valid = answer["valid"] and plan == answer["plan"]
        tally["examples"] += 1
        tally["not valid"] += not valid
        if spoiled:
            tally["mistake " + kind] += 1
        lines.append(json.dumps({"module": module, "system": request["system"], "prompt": folded(answer["prompt"]), "plan": plan,
                                 "valid": valid, "mistake": kind if spoiled else ""}))
    after = os.times()
    seconds = after.children_user - before.children_user + after.children_system - before.children_system
    tally["seconds"] = seconds + time.process_time() - started
    return module, chunk, lines, tally, sorted(unread)[:3]


def parse_rates(text):
    rates = dict(mistakes.RATES)
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        try:
            rate = support.number(float, 0, 1)(value)
        except argparse.ArgumentTypeError:
            rate = None
        if name not in rates or rate is None:
            raise argparse.ArgumentTypeError(f"'{part}' is not MODULE=RATE, a RATE from 0 to 1; modules: {', '.join(rates)}")
        rates[name] = rate
    return rates


def parse_modules(text):
    names = text.split(",")
    if not set(names) <= set(COUNTS) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of modules, each once; modules: {','.join(COUNTS)}")
    return names


def report(tallies, unread):
    text = ""
    for module, tally in tallies.items():
        kinds = ", ".join(f"{k[8:]} {n}" for k, n in sorted(tally.items()) if k.startswith("mistake "))
        count = max(1, tally["examples"])
        text += (f"{module}: {tally['examples']} examples of {tally['drawn']} drawn (chunks: {tally['chunks']}); {tally['excluded']} excluded, "
                 f"{tally['no plan']} without a plan, {tally['unread']} unread; {100 * tally['not valid'] / count:.1f} % of the plans are not valid "
                 f"({kinds}); {tally['drawn'] / max(tally['seconds'], 1e-9):.0f} drawn per second and core\n")
        text += "".join(f"    {message}\n" for message in sorted(unread[module])[:5])
    return text


def plan_of(args):
    """Chunks as (module, number, requests) each, in the order in which they are drawn: those to validate with come first."""
    chunks = {name: max(1, round(COUNTS[name] * args.scale / CHUNK)) for name in args.modules}
    size = lambda name: max(1, min(CHUNK, round(COUNTS[name] * args.scale)))
    numbered = [(name, i, size(name)) for name in args.modules for i in range(chunks[name])]
    numbered.sort(key=lambda chunk: (chunk[1] + 0.5) / chunks[chunk[0]])
    return ([(name, "valid", 2 * VALID) for name in args.modules] + numbered)[: args.chunks]


def made(args, plan, started):
    """What make_chunk gives for one chunk after the other, as long as there is time."""
    chunks, pending = iter(plan), collections.deque()
    begun = False
    with concurrent.futures.ProcessPoolExecutor(args.jobs, initializer=goal_pairs.set_folders, initargs=(args.domains,)) as pool:
        while True:
            while len(pending) < 6 * args.jobs and (time.time() - started < args.seconds or not begun):
                name, chunk, count = next(chunks, (None, None, 0))
                if not name:
                    break
                called = f"{args.more} {chunk}" if args.more and chunk != "valid" else chunk
                pending.append(pool.submit(make_chunk, (args.examples, name, called, count, args.mistakes[name])))
            if not pending:
                return
            begun = True
            yield pending.popleft().result()


def draw_all(args, train, valid):
    """Writes the examples to two open files; returns the report."""
    started, plan = time.time(), plan_of(args)
    tallies = {name: collections.Counter() for name in args.modules}
    unread = {name: set() for name in args.modules}
    seen, done = set(), 0
    for name, chunk, lines, tally, messages in made(args, plan, started):
        if chunk == "valid":
            lines = lines[:VALID]
            seen |= {hash(json.loads(line)["prompt"]) for line in lines}
        else:
            tallies[name] += tally + collections.Counter(chunks=1)
            unread[name] |= set(messages)
            lines = [line for line in lines if hash(json.loads(line)["prompt"]) not in seen]
        (valid if chunk == "valid" else train).writelines(line + "\n" for line in lines)
        done += 1
        if done % 200 == 0:
            print(f"{done} of {len(plan)} chunks, {time.time() - started:.0f} s", flush=True)
    for file, kind in ((train, "train on"), (valid, "validate with")):
        if not file.tell():
            raise SystemExit(f"generate.py: there is not one example to {kind}, so nothing is written; raise --scale, --seconds or --chunks")
    cut = f"; the time was up: --chunks {done} draws the same again" if done < len(plan) else ""
    return f"{done} of {len(plan)} chunks, those to validate with included{cut}\n" + report(tallies, unread)


def check(args):
    if not os.path.exists("domains/tabletop/domain.pddl"):
        raise SystemExit("generate.py: there is no domains/tabletop here; run it in the root of the source tree")
    if "wah" in args.modules and not os.path.exists(watch_and_help.DOMAIN):
        raise SystemExit(f"generate.py: there is no {watch_and_help.DOMAIN}; leave the module wah out with --modules")
    if not os.path.isfile(args.examples) or not os.access(args.examples, os.X_OK):
        raise SystemExit(f"generate.py: {args.examples} is no program; compile examples.cc (`make build`)")


def main():
    parser = support.Parser(__doc__.splitlines()[0])
    parser.add_argument("--examples", required=True, help="examples.cc, compiled")
    parser.add_argument("--out", required=True)
    parser.add_argument("--scale", type=support.number(float, 1e-6, 100), default=1.0, help="how many of the COUNTS above to draw")
    parser.add_argument("--modules", type=parse_modules, default=",".join(COUNTS))
    parser.add_argument("--domains", type=lambda text: text.split(","), default=[], metavar="FOLDER,...",
                        help="for the module goal: domains in *domain*.pddl below these folders, too")
    parser.add_argument("--more", default="", metavar="NAME", help="other examples, to go with those that are there")
    parser.add_argument("--mistakes", type=parse_rates, default="", help="other rates than mistakes.RATES, as MODULE=RATE,...")
    parser.add_argument("--jobs", type=support.number(int, 1, 1024), default=os.cpu_count())
    parser.add_argument("--seconds", type=support.number(float, 0, 1e9), default=1e9, help="draw no new chunks after this time")
    parser.add_argument("--chunks", type=support.number(int, 1, 1e9), default=10**9, help="draw no more than these")
    args = parser.parse_args()
    check(args)
    args.examples = os.path.abspath(args.examples)
    os.makedirs(args.out, exist_ok=True)
    with support.replacing(*(os.path.join(args.out, name) for name in ("train.jsonl", "valid.jsonl", "report.txt"))) as names:
        with open(names[0], "w") as train, open(names[1], "w") as valid, open(names[2], "w") as out:
            text = draw_all(args, train, valid)
            out.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
