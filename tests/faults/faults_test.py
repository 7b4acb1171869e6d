#!/usr/bin/env python3
"""Calls of the system that fail, one after the other; and processes that are killed at any moment.

    tests/faults/faults_test.py calls  --library LIB --program METACTRL [--benchmarks METACTRL-BENCHMARKS] [--every N]
    tests/faults/faults_test.py kills  --program METACTRL [--benchmarks METACTRL-BENCHMARKS] [--times N] [--seed S]

`calls` runs each command that writes files until none of its calls is left that could fail: the first write fails, then the second, and so on; the same
for files that are opened, synced and renamed, and every Nth allocation. Each time the program must end by itself with a documented exit code, say what
is wrong where it does not succeed, leave each file as it was or as it should become, and leave nothing lying about; and the same command, once
more and with nothing in its way, must give what an undisturbed one gives.

`kills` runs each long command and kills it (SIGKILL) after a random time, again and again with what is left of it, until it comes to its end or
so often that it is let be. Its files must be those of an undisturbed run, byte for byte.
"""

import argparse
import errno
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = SOURCE / "domains/tabletop"
TASK = ["-d", str(TABLE / "domain.pddl"), "-p", str(TABLE / "dishwasher.pddl")]
CODES = {0, 10, 11, 12, 13, 14, 20, 21, 22, 30, 31, 33}  # docs/exit-codes.md, but for bugs and signals
OLD = b"what was there before\n"


class Job:
    """A command with {} for the folder of its files, what it reads there, and the files that it makes."""

    def __init__(self, name, arguments, made, benchmarks=False, reads=(), resume=(), starts_fresh=False):
        self.name = name
        self.arguments = arguments
        self.made = made
        self.benchmarks = benchmarks
        self.reads = reads
        self.resume = list(resume)
        self.starts_fresh = starts_fresh  # refuses a file that is there already


def jobs():
    prompts = str(SOURCE / "tests/data/eai_vh/as_prompts.json")
    sample = ["sample", *TASK, "-m", "random:1", "--count", "12", "--max-tokens", "40", "--seed", "3", "--out", "{}/plans.corpus"]
    train = ["train", "--corpus", "{}/plans.corpus", "--hidden", "128", "--stages", "300,all", "--save-every", "0.02", "--seed", "2", "--threads", "1", "--out", "{}/model.hmm"]
    return [
        Job("search", ["search", *TASK, "--out", "{}/plan", "--certificate", "{}/proof.json"], ["plan", "proof.json"]),
        Job("plan", ["plan", *TASK, "-m", "random:1", "--out", "{}/plan"], ["plan"]),
        Job("export", ["export", "task", *TASK, "--out", "{}/task"], ["task/domain.pddl", "task/problem.pddl"]),
        Job("hmm", ["hmm", "uniform", *TASK, "--out", "{}/model.hmm"], ["model.hmm"]),
        Job("sample", sample, ["plans.corpus"], resume=["--resume"], starts_fresh=True),
        Job("train", train, ["model.hmm"], reads=["plans.corpus"], resume=["--resume"], starts_fresh=True),
        Job("eval", ["eval", "vh-as", "--prompts", prompts, "--guidance", "search", "--max-states", "2000", "--out", "{}/answers.json"], ["answers.json"],
            benchmarks=True, starts_fresh=True),
    ]


class Place:
    """A folder in which one command is run, again and again."""

    def __init__(self, options, job, inputs):
        self.options, self.job = options, job
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="metactrl-faults-"))
        for name in job.reads:
            shutil.copy(inputs / name, self.root / name)
        self.kept = set(job.reads)

    def command(self, again=False):
        program = self.options.benchmarks if self.job.benchmarks else self.options.program
        arguments = [argument.replace("{}", str(self.root)) for argument in self.job.arguments]
        return [program, *arguments, *(self.job.resume if again else [])]

    def environment(self, **more):
        return dict(os.environ, METACTRL_CACHE=str(self.root / "cache"), **{name: str(value) for name, value in more.items()})

    def run(self, again=False, **faults):
        return subprocess.run(self.command(again), env=self.environment(**faults), capture_output=True, timeout=600)

    def contents(self):
        return {name: (self.root / name).read_bytes() for name in self.job.made if (self.root / name).exists()}

    def strangers(self):
        """Files that neither this command nor this test has to do with."""
        known = self.kept | set(self.job.made)
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if path.is_file() and str(path.relative_to(self.root)) not in known and "cache" not in path.parts]

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
    place.remove()
    return contents


def judge(place, done, told, wanted, what):
    job = place.job
    message = done.stderr.decode(errors="replace")
    expect(done.returncode in CODES, f"{what}: exit code {done.returncode}: {message[-800:]}")
    contents = place.contents()
    if done.returncode == 0:
        expect(contents == wanted, f"{what}: succeeded, but {[n for n in wanted if contents.get(n) != wanted[n]]} is not what it should be")
        return
    expect(told, f"{what}: failed without a fault: {message[-800:]}")
    expect(message.strip() != "", f"{what}: exit code {done.returncode} and not a word")
    if not job.starts_fresh:
        for name in job.made:
            expect(contents.get(name) in (OLD, wanted[name]), f"{what}: {name} is neither the old file nor the new one")
        expect(not place.strangers(), f"{what}: left {place.strangers()}")
    again = place.run(again=job.starts_fresh)
    expect(again.returncode == 0, f"{what}: the next run ends with {again.returncode}: {again.stderr.decode(errors='replace')[-800:]}")
    expect(place.contents() == wanted, f"{what}: the next run gives something else")


def fail_calls(options, job, inputs, wanted, call, error, stay, step=1):
    place = Place(options, job, inputs)
    told = pathlib.Path(str(place.root) + ".told")
    at, faults = 1, 0
    try:
        while True:
            told.unlink(missing_ok=True)
            place.clear()
            if not job.starts_fresh:
                place.put_old_files()
            more = {"FAULTS_STAY": 1} if stay else {}
            if call == "malloc":
                more["FAULTS_FROM"] = "dishwasher.pddl"
            done = place.run(LD_PRELOAD=options.library, FAULTS_CALL=call, FAULTS_AT=at, FAULTS_ERRNO=error, FAULTS_TOLD=told, **more)
            what = f"{job.name}: {call} number {at}, {errno.errorcode[error]}"
            judge(place, done, told.exists(), wanted, what)
            if not told.exists():
                return faults
            faults += 1
            at += step
    finally:
        told.unlink(missing_ok=True)
        place.remove()


def calls(options, all_jobs, inputs):
    total = 0
    for job in all_jobs:
        wanted = undisturbed(options, job, inputs)
        counts = {}
        for call, error, stay in (("open", errno.EACCES, False), ("write", errno.ENOSPC, True), ("write", errno.EDQUOT, False),
                                  ("write", errno.EIO, False), ("fsync", errno.EIO, False), ("rename", errno.EIO, False)):
            name = f"{call} {errno.errorcode[error]}"
            counts[name] = fail_calls(options, job, inputs, wanted, call, error, stay)
        if job.name in ("search", "export"):
            counts["malloc"] = fail_calls(options, job, inputs, wanted, "malloc", errno.ENOMEM, False, options.every)
        print(f"{job.name}: " + ", ".join(f"{name} {count}" for name, count in counts.items()), flush=True)
        expect(counts["write EIO"] > 0, f"{job.name}: no write was made to fail")
        total += sum(counts.values())
    print(f"{total} calls failed; every program ended by itself, and no file was lost")


def kills(options, all_jobs, inputs):
    drawn = random.Random(options.seed)
    total = 0
    for job in all_jobs:
        if not job.starts_fresh:
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
            expect(place.contents() == wanted, f"{job.name}: killed {killed} times so far, the result is another; it is in {place.root}")
            place.remove()
        print(f"{job.name}: killed {killed} times, {finished} results as without", flush=True)
        total += killed
    print(f"{total} kills; every result is that of an undisturbed run")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("calls", "kills"))
    parser.add_argument("--library", help="of faults, for LD_PRELOAD")
    parser.add_argument("--program", required=True)
    parser.add_argument("--benchmarks", help="without it, nothing of the benchmarks is run")
    parser.add_argument("--every", type=int, default=1, help="of allocations, fail each so many")
    parser.add_argument("--times", type=int, default=10, help="kills for each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="this command")
    options = parser.parse_args()
    all_jobs = [job for job in jobs() if options.benchmarks or not job.benchmarks]
    chosen = [job for job in all_jobs if options.only in (None, job.name)]
    with tempfile.TemporaryDirectory() as folder:
        inputs = pathlib.Path(folder)
        # Plans to train on are those of a model that can write some.
        sample = next(job for job in all_jobs if job.name == "sample")
        able = Job("sample by the model that ships", ["pocket" if a == "random:1" else "64" if a == "40" else a for a in sample.arguments], sample.made)
        (inputs / "plans.corpus").write_bytes(undisturbed(options, able, inputs)["plans.corpus"])
        try:
            calls(options, chosen, inputs) if options.what == "calls" else kills(options, chosen, inputs)
        except Failed as failed:
            sys.exit(f"faults_test: {failed}")


if __name__ == "__main__":
    main()
