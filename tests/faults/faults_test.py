#!/usr/bin/env python3
"""Calls of the system that fail, one after the other; processes that are killed at any moment; clocks that jump; threads that are starved.

    tests/faults/faults_test.py calls   --library LIB --program METACTRL [--benchmarks METACTRL-BENCHMARKS] [--allocations N] [--only COMMAND]
    tests/faults/faults_test.py kills   --program METACTRL [--benchmarks METACTRL-BENCHMARKS --checkout MAKE_CHECKOUT] [--times N] [--seed S] [--only COMMAND]
    tests/faults/faults_test.py clocks  --library LIB --program METACTRL [--benchmarks METACTRL-BENCHMARKS]
    tests/faults/faults_test.py starved --library LIB --program METACTRL [--benchmarks METACTRL-BENCHMARKS] [--batcher LLAMA_TESTS]

`calls` runs each command that writes files until none of its calls is left that could fail: the first write fails, then the second, and so on; the same
for files that are opened, synced and renamed, and for allocations, of which it says how many there are: N of them, spread evenly, or each with 0. Each time
the program must end by itself with a documented exit code (or by llama.cpp's abort and the line that it says, where llama.cpp itself gets no memory), say what
is wrong where it does not succeed, leave each file as it was or as it should become, and leave nothing lying about; and the same command, once more and with
nothing in its way, must give what an undisturbed one gives, and nothing else.

`kills` runs each command that goes on where it stopped and kills it (SIGKILL) after a random time, again and again with what is left of it, until it comes to
its end or so often that it is let be. Its files must be those of an undisturbed run, byte for byte (of tables: all but times), and there must be no others.

`clocks` has the time of day jump by ten years to and fro, and the clock that never goes back jump by hours, every few readings: every command and the service
must give what they give without. With a time limit a clock that jumped over it may end the work, as undecided and nothing else; the time of day may not.

`starved` has threads sleep where they ask for a mutex, have one, or begin: every command must give what it gives otherwise, the service to many at a time what
it gives to one, and the tests of the batcher must pass.
"""

import argparse
import concurrent.futures
import errno
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests/serve"))
import crowd_test  # noqa: E402  the service, and what to ask it

TABLE = SOURCE / "domains/tabletop"
TASK = ["-d", str(TABLE / "domain.pddl"), "-p", str(TABLE / "dishwasher.pddl")]
CODES = {0, 10, 11, 12, 13, 14, 20, 21, 22, 30, 31, 33}  # docs/exit-codes.md, but for bugs and signals
OLD = b"what was there before\n"
YEARS = 10 * 365 * 86400
HOUR = 3600


class Job:
    """A command with {} for the folder of its files, what it reads there, and the files that it makes."""

    def __init__(self, name, arguments, made, benchmarks=False, reads=(), resume=None, counts_from="dishwasher.pddl", besides=r"cache/.*", seen=None):
        self.name = name
        self.arguments = arguments
        self.made = made
        self.benchmarks = benchmarks
        self.reads = reads
        self.goes_on = resume is not None  # a run that was stopped is gone on with, by these further arguments
        self.resume = list(resume or ())
        self.counts_from = counts_from  # allocations, when this file is opened
        self.besides = re.compile(besides)  # files that may be there besides
        self.seen = seen or (lambda content: content)  # what of a file must be the same each time


def without_times(content):
    """Of tables: all that a clock has no part in, and no path of this machine."""

    def clean(value):
        if isinstance(value, dict):
            return {key: clean(one) for key, one in value.items() if "seconds" not in key and key not in ("command", "date")}
        return [clean(one) for one in value] if isinstance(value, list) else value

    return clean(json.loads(content))


def jobs(options):
    prompts = str(SOURCE / "tests/data/eai_vh/as_prompts.json")
    sample = ["sample", *TASK, "-m", "random:1", "--count", "12", "--max-tokens", "40", "--seed", "3", "--out", "{}/plans.corpus"]
    train = ["train", "--corpus", "{}/plans.corpus", "--hidden", "128", "--stages", "300,all", "--save-every", "0.02", "--seed", "2", "--threads", "1", "--out", "{}/model.hmm"]
    reproduce = ["reproduce", "--data", str(SOURCE / "tests/data"), "--limit", "2", "--modules", "vh-as,wah", "--rows", "search,mask", "--rules", "environment",
                 "--model", "random:3", "--max-tokens", "40", "--max-states", "2000", "--out", "{}/tables"]
    imported = ["eai_vh/as.jsonl", "eai_vh/as_prompts.json", "eai_vh/graphs.jsonl", "eai_beh/as_prompts.json", "eai_beh/as_tasks.jsonl", "eai_beh/sd_tasks.jsonl"]
    found = [
        Job("search", ["search", *TASK, "--out", "{}/plan", "--certificate", "{}/proof.json"], ["plan", "proof.json"]),
        Job("plan", ["plan", *TASK, "-m", "random:1", "--out", "{}/plan"], ["plan"]),
        Job("export", ["export", "task", *TASK, "--out", "{}/task"], ["task/domain.pddl", "task/problem.pddl"]),
        Job("hmm", ["hmm", "uniform", *TASK, "--out", "{}/model.hmm"], ["model.hmm"]),
        Job("sample", sample, ["plans.corpus"], resume=["--resume"]),
        Job("train", train, ["model.hmm"], reads=["plans.corpus"], resume=["--resume"], counts_from="plans.corpus"),
        Job("eval", ["eval", "vh-as", "--prompts", prompts, "--guidance", "search", "--max-states", "2000", "--out", "{}/answers.json"], ["answers.json"],
            benchmarks=True, resume=["--resume"], counts_from="as_prompts.json"),
        Job("import", ["import", "eai", "--root", "{}/checkout", "--out", "{}/data"], [f"data/{name}" for name in imported], benchmarks=True,
            reads=["checkout"], resume=["--resume"], counts_from="task_state_LTL_formula_accurate.json", besides=r"cache/.*|data/eai_(vh|beh)/[a-z0-9_]+\.jsonl?"),
        Job("reproduce", reproduce, ["tables/tables.json"], benchmarks=True, resume=[], besides=r"cache/.*|tables/([a-z-]+\.svg|tables\.md|index\.html|answers\.jsonl)",
            seen=without_times),
        Job("models", ["models", "add", "{hub}/plain/pocket.gguf", "--name", "mine"], ["cache/models/mine.gguf"], resume=[],
            besides=r"cache/(models/models\.json|.*lock)"),
    ]
    return [job for job in found if (options.benchmarks or not job.benchmarks) and (options.checkout or "checkout" not in job.reads)]


class Place:
    """A folder in which one command is run, again and again."""

    def __init__(self, options, job, inputs):
        self.options, self.job = options, job
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="metactrl-faults-"))
        for name in job.reads:
            (shutil.copytree if (inputs / name).is_dir() else shutil.copy)(inputs / name, self.root / name)
        self.kept = set(job.reads)

    def command(self, again=False):
        program = self.options.benchmarks if self.job.benchmarks else self.options.program
        arguments = [argument.replace("{}", str(self.root)).replace("{hub}", self.options.hub) for argument in self.job.arguments]
        return [program, *arguments, *(self.job.resume if again else [])]

    def environment(self, **more):
        return dict(os.environ, METACTRL_CACHE=str(self.root / "cache"), no_proxy="*", **{name: str(value) for name, value in more.items()})

    def run(self, again=False, more=(), **faults):
        return subprocess.run([*self.command(again), *more], env=self.environment(**faults), capture_output=True, timeout=600)

    def contents(self):
        return {name: self.job.seen((self.root / name).read_bytes()) for name in self.job.made if (self.root / name).exists()}

    def strangers(self):
        """Files that neither this command nor this test has to do with."""
        files = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        return sorted(str(path) for path in files
                      if path.parts[0] not in self.kept and str(path) not in self.job.made and not self.job.besides.fullmatch(str(path)))

    def put_old_files(self):
        for name in self.job.made:
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_bytes(OLD)

    def clear(self):
        for path in list(self.root.iterdir()):
            if path.name in self.kept:
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


class Failed(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Failed(what)


def undisturbed(options, job, inputs):
    place = Place(options, job, inputs)
    done = place.run()
    expect(done.returncode == 0, f"{job.name}: without any fault: exit code {done.returncode}: {done.stderr.decode()[-500:]}")
    contents = place.contents()
    expect(set(contents) == set(job.made), f"{job.name}: made {sorted(contents)}")
    expect(not place.strangers(), f"{job.name}: without any fault: left {place.strangers()}")
    place.remove()
    return contents


def expect_same(place, wanted, what):
    contents = place.contents()
    expect(contents == wanted, f"{what}: {[n for n in wanted if contents.get(n) != wanted[n]]} is not what it should be; it is in {place.root}")
    expect(not place.strangers(), f"{what}: left {place.strangers()}")


# --- calls that fail


def judge(place, done, told, wanted, what):
    job = place.job
    message = done.stderr.decode(errors="replace")
    ended_by_llama = done.returncode == -signal.SIGABRT and re.search(r"ggml[^ ]*:\d+: ", message)
    expect(done.returncode in CODES or ended_by_llama, f"{what}: exit code {done.returncode}: {message[-800:]}")
    if done.returncode == 0:
        expect_same(place, wanted, f"{what}: succeeded, but")
        return
    expect(told, f"{what}: failed without a fault: {message[-800:]}")
    expect(message.strip() != "", f"{what}: exit code {done.returncode} and not a word")
    if not job.goes_on:
        for name in job.made:
            expect(place.contents().get(name) in (OLD, wanted[name]), f"{what}: {name} is neither the old file nor the new one")
        expect(not place.strangers(), f"{what}: left {place.strangers()}")
    again = place.run(again=job.goes_on)
    expect(again.returncode == 0, f"{what}: the next run ends with {again.returncode}: {again.stderr.decode(errors='replace')[-800:]}")
    expect_same(place, wanted, f"{what}: the next run")


class Calls:
    """One command, and its calls that fail."""

    def __init__(self, options, job, inputs, wanted):
        self.options, self.job, self.wanted = options, job, wanted
        self.place = Place(options, job, inputs)
        self.told = pathlib.Path(str(self.place.root) + ".told")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.told.unlink(missing_ok=True)
        self.place.remove()

    def run(self, **faults):
        self.told.unlink(missing_ok=True)
        self.place.clear()
        if not self.job.goes_on:
            self.place.put_old_files()
        return self.place.run(LD_PRELOAD=self.options.library, FAULTS_TOLD=self.told, **faults)

    def fail(self, call, error, at, **more):
        """Whether there is such a call."""
        done = self.run(FAULTS_CALL=call, FAULTS_AT=at, FAULTS_ERRNO=error, **more)
        judge(self.place, done, self.told.exists(), self.wanted, f"{self.job.name}: {call} number {at}, {errno.errorcode[error]}")
        return self.told.exists()

    def fail_each(self, call, error, **more):
        at = 1
        while self.fail(call, error, at, **more):
            at += 1
        return at - 1

    def fail_allocations(self, most):
        """How many were made to fail, of how many."""
        counted = pathlib.Path(str(self.place.root) + ".counted")
        begin = time.monotonic()
        self.run(FAULTS_CALL="malloc", FAULTS_AT=0, FAULTS_FROM=self.job.counts_from, FAULTS_COUNTED=counted)
        seconds = time.monotonic() - begin
        count = int(counted.read_text())
        counted.unlink()
        expect(count > 0, f"{self.job.name}: no allocation was counted")
        wanted = count if most == 0 else min(most, count)
        print(f"{self.job.name}: {count:,} allocations; {wanted:,} of them take up to {2 * wanted * seconds / 60:.0f} minutes", flush=True)
        made = sum(self.fail("malloc", errno.ENOMEM, 1 + i * count // wanted, FAULTS_FROM=self.job.counts_from) for i in range(wanted))
        return made, count


def calls(options, chosen, inputs):
    total = 0
    for job in chosen:
        if job.name in ("reproduce", "models"):
            continue  # made of others, or waits for another program
        wanted = undisturbed(options, job, inputs)
        counts = {}
        with Calls(options, job, inputs, wanted) as attempts:
            for call, error, more in (("open", errno.EACCES, {}), ("write", errno.ENOSPC, {"FAULTS_STAY": 1}), ("write", errno.EDQUOT, {}),
                                      ("write", errno.EIO, {}), ("fsync", errno.EIO, {}), ("rename", errno.EIO, {})):
                counts[f"{call} {errno.errorcode[error]}"] = attempts.fail_each(call, error, **more)
            counts["malloc"], allocations = attempts.fail_allocations(options.allocations)
        print(f"{job.name}: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + f" of {allocations:,}", flush=True)
        expect(counts["write EIO"] > 0, f"{job.name}: no write was made to fail")
        expect(counts["malloc"] > 0, f"{job.name}: no allocation was made to fail")
        total += sum(counts.values())
    print(f"{total} calls failed; every program ended by itself, and no file was lost")


# --- processes that are killed


def kills(options, chosen, inputs):
    drawn = random.Random(options.seed)
    total = 0
    for job in chosen:
        if not job.goes_on:
            continue
        begin = time.monotonic()
        wanted = undisturbed(options, job, inputs)
        seconds = time.monotonic() - begin
        killed, finished = 0, 0
        while killed < options.times:
            place = Place(options, job, inputs)
            again = False
            for attempt in range(12):
                last = attempt == 11  # is let be
                running = subprocess.Popen(place.command(again), env=place.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                try:
                    _, message = running.communicate(timeout=None if last else drawn.uniform(0, seconds))
                except subprocess.TimeoutExpired:
                    running.send_signal(signal.SIGKILL)
                    running.communicate()
                    killed += 1
                    again = True
                    continue
                expect(running.returncode == 0, f"{job.name}: after a kill: exit code {running.returncode}: {message.decode(errors='replace')[-800:]}")
                break
            finished += 1
            expect_same(place, wanted, f"{job.name}: killed {killed} times so far")
            place.remove()
        print(f"{job.name}: killed {killed} times, {finished} results as without", flush=True)
        total += killed
    print(f"{total} kills; every result is that of an undisturbed run")


# --- clocks and threads


class Disturbed:
    """Runs commands under faults that must change nothing, and knows whether there were any."""

    def __init__(self, options, inputs):
        self.options, self.inputs = options, inputs
        self.wanted = {}

    def run(self, job, what, more=(), may_end=False, **faults):
        """Whether a fault came by. `may_end`: with nothing but the word that it is undecided, in time."""
        if job.name not in self.wanted:
            self.wanted[job.name] = undisturbed(self.options, job, self.inputs)
        place = Place(self.options, job, self.inputs)
        told = place.root / "cache/told"
        told.parent.mkdir()
        done = place.run(more=more, LD_PRELOAD=self.options.library, FAULTS_TOLD=told, **faults)
        what = f"{job.name} {' '.join(more)}, {what}"
        if may_end and done.returncode in (11, 21):
            expect(not place.contents(), f"{what}: left a result, and says that there is none")
            expect(done.stderr.strip(), f"{what}: exit code {done.returncode} and not a word")
        else:
            expect(done.returncode == 0, f"{what}: exit code {done.returncode}: {done.stderr.decode(errors='replace')[-800:]}")
            expect_same(place, self.wanted[job.name], what)
        came = told.exists()
        place.remove()
        return came

    def answers(self, asked, clients, may_close=False, **faults):
        """What a service says, as far as it is the same each time, in the order of the questions. `may_close`: it may hang up."""
        with tempfile.TemporaryDirectory(prefix="metactrl-faults-") as folder:
            environment = dict(os.environ, METACTRL_CACHE=folder)
            if faults:
                environment |= {"LD_PRELOAD": self.options.library, **{name: str(value) for name, value in faults.items()}}
            service = crowd_test.Service(self.options.program, environment)
            models = service.models()

            def ask(one):
                try:
                    return crowd_test.essence(one[0], *service.ask(one[1], one[2]))
                except (ConnectionError, http.client.HTTPException):
                    expect(may_close, f"the service hung up on {one[0]}, {one[1]}")
                    return 0, "closed"

            with concurrent.futures.ThreadPoolExecutor(clients) as pool:
                found = list(pool.map(ask, asked(models)))
            service.process.send_signal(signal.SIGTERM)
            expect(service.process.wait(timeout=60) == 0, f"the service ended with {service.process.returncode}: {''.join(service.said)[-800:]}")
            return found


def some_questions(models):
    asked = crowd_test.questions(models)
    # The slowest last; of the model that ships a few.
    written = [one for one in asked if one[0] == "written"]
    return [one for one in asked if one[0] != "written"] + written[:3]


def clocks(options, chosen, inputs):
    disturbed = Disturbed(options, inputs)
    jumped = 0
    ways = {"the time of day jumps": {"FAULTS_REAL": YEARS}, "the steady clock jumps": {"FAULTS_STEADY": HOUR},
            "both clocks jump": {"FAULTS_REAL": YEARS, "FAULTS_STEADY": HOUR}}
    for job in chosen:
        if job.name in ("import", "models"):
            continue  # copies files; waits for another program
        came = [disturbed.run(job, what, **faults) for what, faults in ways.items()]
        if job.name in ("search", "plan"):
            came.append(disturbed.run(job, "the time of day jumps", ("--time-limit", "600"), FAULTS_REAL=YEARS))
            came.append(disturbed.run(job, "the steady clock jumps", ("--time-limit", "1000000000"), FAULTS_STEADY=HOUR))
            came.append(disturbed.run(job, "the steady clock jumps", ("--time-limit", "600"), may_end=True, FAULTS_STEADY=HOUR))
            expect(all(came[-2:]), f"{job.name}: has a time limit and read no clock")
        print(f"{job.name}: clocks jumped in {sum(came)} of {len(came)} runs, nothing changed", flush=True)
        jumped += sum(came)
    expect(jumped > 0, "no clock jumped")
    quiet = disturbed.answers(some_questions, 1)
    expect(disturbed.answers(some_questions, 1, FAULTS_REAL=YEARS) == quiet, "the service answers otherwise when the time of day jumps")
    # Its own limits for a request are over at once; what it says then is that, or the answer, or nothing to who is so slow.
    late = disturbed.answers(some_questions, 1, may_close=True, FAULTS_STEADY=HOUR)
    for before, now in zip(quiet, late):
        over = now[0] in (0, 408, 503, 504) or '"undecided"' in now[1]
        expect(now == before or over, f"the service answers otherwise when the steady clock jumps: {before} became {now}")
    print(f"service: {len(quiet)} answers, the same when the time of day jumps; {sum(a == b for a, b in zip(quiet, late))} the same when the steady clock does, "
          f"{sum(now[0] == 0 for now in late)} times it hung up, the others are undecided")


def starved(options, chosen, inputs):
    disturbed = Disturbed(options, inputs)
    slept = 0
    for job in chosen:
        if job.name in ("import", "models", "export"):
            continue
        more = ("--jobs", "3") if job.name == "eval" else ()
        came = [disturbed.run(job, "threads are starved", more, FAULTS_STARVE=most) for most in (300, 3000)]
        print(f"{job.name}: threads slept in {sum(came)} of {len(came)} runs, nothing changed", flush=True)
        slept += sum(came)
    expect(slept > 0, "no thread slept")
    twice = lambda models: 2 * some_questions(models)  # noqa: E731
    quiet = 2 * disturbed.answers(some_questions, 1)
    crowded = disturbed.answers(twice, 12, FAULTS_STARVE=3000)
    wrong = [(one, other) for one, other in zip(quiet, crowded) if one != other]
    expect(not wrong, f"the service, starved, gives {len(wrong)} other answers, such as {wrong[:1]}")
    print(f"service: {len(crowded)} answers to twelve at a time, the same")
    if options.batcher:
        command = [options.batcher, "--gtest_filter=LlamaBatcher*:*LlamaBatcher*", "--gtest_brief=1"]
        done = subprocess.run(command, env=dict(os.environ, LD_PRELOAD=options.library, FAULTS_STARVE="3000"), capture_output=True, text=True, timeout=1000)
        expect(done.returncode == 0, f"the batcher, starved: {done.stdout[-2000:]}")
        expect(re.search(r"[1-9][0-9]* tests? .*ran", done.stdout), f"no test of the batcher ran: {done.stdout[-500:]}")
        print("the batcher: " + done.stdout.strip().splitlines()[-1])


def start_hub(folder):
    """A server with a model to fetch, which takes about a second for it."""
    (folder / "plain").mkdir(parents=True)
    shutil.copy(SOURCE / "models/pocket.gguf", folder / "plain/pocket.gguf")
    (folder / "rules.json").write_text(json.dumps([{"server": "hub", "path": "pocket", "slow": 0.001, "times": -1}]))
    hub = subprocess.Popen([sys.executable, SOURCE / "tests/support/fake_hub.py", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return hub, f"http://127.0.0.1:{hub.stdout.readline().split()[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = {"calls": calls, "kills": kills, "clocks": clocks, "starved": starved}
    parser.add_argument("what", choices=ways)
    parser.add_argument("--library", help="of faults, for LD_PRELOAD")
    parser.add_argument("--program", required=True)
    parser.add_argument("--benchmarks", help="without it, nothing of the benchmarks is run")
    parser.add_argument("--checkout", help="the program that writes a checkout to import; without it, none is")
    parser.add_argument("--batcher", help="the tests of what runs models")
    parser.add_argument("--allocations", type=int, default=0, help="make so many of each command fail, spread evenly; 0: each")
    parser.add_argument("--times", type=int, default=10, help="kills for each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="this command")
    options = parser.parse_args()
    if options.what != "kills" and not options.library:
        parser.error(f"{options.what} needs --library")
    options.hub, hub = "", None
    all_jobs = jobs(options)
    chosen = [job for job in all_jobs if options.only in (None, job.name)]
    if not chosen:
        parser.error(f"--only: there is {', '.join(job.name for job in all_jobs)}")
    with tempfile.TemporaryDirectory() as folder:
        inputs = pathlib.Path(folder)
        try:
            if options.what == "kills" and any(job.name == "models" for job in chosen):
                hub, options.hub = start_hub(inputs / "hub")
            # Plans to train on are those of a model that can write some.
            sample = next(job for job in all_jobs if job.name == "sample")
            able = Job("sample by the model that ships", ["pocket" if a == "random:1" else "64" if a == "40" else a for a in sample.arguments], sample.made)
            (inputs / "plans.corpus").write_bytes(undisturbed(options, able, inputs)["plans.corpus"])
            if options.checkout:
                subprocess.run([options.checkout, inputs / "checkout"], check=True)
            ways[options.what](options, chosen, inputs)
        except Failed as failed:
            sys.exit(f"faults_test: {failed}")
        finally:
            if hub:
                hub.stdin.close()
                hub.wait()


if __name__ == "__main__":
    main()
