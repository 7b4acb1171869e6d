#!/usr/bin/env python3
"""Tests of the generator and of the scripts, with a few examples of each module. Standard library only, some seconds; the training is
tested, too, where Python has NumPy and PyTorch.

    check.py PROGRAM     PROGRAM: examples.cc, compiled; METACTRL_DATA: where the benchmarks' prompts are (default ../shared/data)
"""
import collections
import contextlib
import importlib.util
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bpe  # noqa: E402
import excluded  # noqa: E402
import generate  # noqa: E402
import goal_pairs  # noqa: E402
import mistakes  # noqa: E402
import plot  # noqa: E402
import support  # noqa: E402
import templates  # noqa: E402
import watch_and_help  # noqa: E402

PROGRAM, DATA = None, None
NO_DATA = "no prompts of the benchmarks; set METACTRL_DATA to the folder with the planning data to run this test"
COUNT = 12
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def modules():
    """Those whose domain is there."""
    there = os.path.exists(os.path.join(ROOT, watch_and_help.DOMAIN))
    return [name for name in generate.COUNTS if name != "wah" or there]


def eval_prompts():
    for folder, file, begin, pattern, kind in excluded.SECTIONS:
        with open(os.path.join(DATA, folder, file)) as prompts:
            for entry in json.load(prompts):
                yield file[:2], begin, pattern, kind, entry["llm_prompt"]


class Examples(unittest.TestCase):
    """One chunk of each module, made once."""

    @classmethod
    def setUpClass(cls):
        cls.right, cls.wrong = {}, {}
        for name in modules():
            cls.right[name] = generate.make_chunk((PROGRAM, name, "check", COUNT, 0.0))
            cls.wrong[name] = generate.make_chunk((PROGRAM, name, "check", COUNT, 1.0))

    def test_readers_read_all_that_is_drawn(self):
        for name, (_, _, _, tally, messages) in self.right.items():
            self.assertEqual(tally["unread"], 0, f"{name}: {messages}")
            self.assertGreater(tally["examples"], COUNT // 2, name)

    def test_without_mistakes_plans_are_valid(self):
        for name, (_, _, lines, tally, _) in self.right.items():
            self.assertEqual(tally["not valid"], 0, name)
            self.assertTrue(all(json.loads(line)["valid"] and not json.loads(line)["mistake"] for line in lines), name)

    def test_with_mistakes_most_are_not(self):
        examples = sum(tally["examples"] for _, _, _, tally, _ in self.wrong.values())
        spoiled = sum(tally["not valid"] for _, _, _, tally, _ in self.wrong.values())
        self.assertGreater(spoiled, 0.6 * examples)

    def test_chunks_follow_from_the_seed(self):
        for name in ("wah-goal", "pddl"):
            self.assertEqual(generate.make_chunk((PROGRAM, name, "check", COUNT, 0.0))[2], self.right[name][2])

    def test_tokens_give_the_text_back(self):
        texts = [json.loads(line) for chunk in self.right.values() for line in chunk[2]]
        phrases = templates.phrases()
        tokenizer = bpe.Tokenizer(bpe.learn((t["prompt"] + t["plan"] for t in texts), 200), phrases)
        back = {i: phrase for i, phrase in enumerate(tokenizer.tokens)}
        of_byte = {c: b for b, c in bpe.BYTES.items()}
        for text in texts:
            plain = generate.unfolded(text["prompt"])
            tokens = tokenizer.encode(plain)
            self.assertEqual(tokens, tokenizer.encode_folded(text["prompt"]))
            spelled = b"".join(back[t].encode() if back[t] in phrases else bytes(of_byte[c] for c in back[t]) for t in tokens)
            self.assertEqual(spelled.decode(), plain)


class Goals(unittest.TestCase):
    """Instructions and goals, in invented domains and in those of files."""

    ATOM = r"\([^() ]+(?: [^() ]+)*\)"
    NOT = rf"(?:{ATOM}|\(not {ATOM}\))"
    BINDER = r"\(\?x(?: - [^() ]+)?\)"
    CLASS = r"\([^() ]+ \?x\)"
    CONDITIONS = [NOT, rf"\(forall {BINDER} (?:{NOT}|\(imply {CLASS} {NOT}\))\)",
                  rf"\((?:exists|forn \([234]\)) {BINDER} (?:{ATOM}|\(and {CLASS} {ATOM}\))\)", rf"\(or {ATOM} {ATOM}\)", rf"\(always {NOT}\)",
                  rf"\(sometime {ATOM}\)", rf"\(sometime-before {ATOM} {ATOM}\)"]
    GOAL = re.compile(rf"\(and(?: (?:{'|'.join(CONDITIONS)})){{1,8}}\)")

    def test_goals_are_of_the_language(self):
        rng = random.Random(5)
        for _ in range(400):
            request = goal_pairs.draw(rng)
            self.assertTrue(self.GOAL.fullmatch(request["goal"]), request["goal"])

    def test_all_ways_of_saying_it_occur(self):
        rng = random.Random(6)
        goals = " ".join(goal_pairs.draw(rng)["goal"] for _ in range(400))
        for begin in ("(not ", "(forall ", "(exists ", "(forn ", "(or ", "(always (not ", "(sometime ", "(sometime-before ", "(imply "):
            self.assertIn(begin, goals)

    def test_names_are_drawn_anew(self):
        """Nothing is gained by knowing a name: of 200 problems no two have the same objects."""
        rng = random.Random(7)
        problems = [re.search(r"\(:objects (.*)\)", goal_pairs.draw(rng)["problem"]).group(1) for _ in range(200)]
        self.assertGreater(len(set(problems)), 190)

    def test_the_program_reads_what_is_said_of_files_too(self):
        _, _, lines, tally, messages = generate.make_chunk((PROGRAM, "goal", "files", 60, 0.0))
        self.assertEqual(tally["unread"], 0, messages)
        for line in lines:
            self.assertTrue(json.loads(line)["prompt"].endswith("\nGoal:\n"))

    def test_domains_are_kept_apart(self):
        self.assertTrue(goal_pairs.is_kept_apart("data/ipc/gripper/domain.pddl"))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("miconic", "airport-adl"):
                os.makedirs(os.path.join(folder, name))
                shutil.copy(os.path.join(ROOT, "models/pocket/domains/garden.pddl"), os.path.join(folder, name, "domain.pddl"))
            found = [file for file in goal_pairs.domain_files([folder]) if file.startswith(folder)]
            self.assertEqual([os.path.basename(os.path.dirname(file)) for file in found], ["airport-adl"])


class Exclusion(unittest.TestCase):
    def test_what_is_excluded_is_not_drawn(self):
        rng = random.Random("7 vh-as again")
        first = generate.DRAW["vh-as"](rng)
        tally = collections.Counter()
        requests = generate.draw_requests("vh-as", "again", 5, 0.0, set(excluded.keys_of(first)), tally)
        self.assertEqual(tally["excluded"], 1)
        self.assertEqual(len(requests), 4)
        self.assertNotIn(sorted(first["objects"]), [sorted(r["objects"]) for r in requests])

    def test_order_and_numbers_do_not_matter(self):
        a = excluded.key("virtualhome", ["cup", "bed"])
        self.assertEqual(a, excluded.key("virtualhome", ["bed", "cup"]))
        self.assertNotEqual(a, excluded.key("behavior", ["bed", "cup"]))
        self.assertEqual(excluded.said("Put  it, THERE!"), "put it there")

    def test_all_prompts_of_the_benchmarks_are_in_the_list(self):
        if not DATA:
            self.skipTest(NO_DATA)
        banned = excluded.load()
        for _, begin, pattern, kind, prompt in eval_prompts():
            self.assertIn(excluded.key(kind, excluded.prompt_objects(prompt, begin, pattern)), banned)
        self.assertTrue(set(excluded.task_keys(DATA)) <= banned)


class Templates(unittest.TestCase):
    def test_all_prompts_of_the_benchmarks_have_their_words(self):
        """Nothing but what differs from task to task is left when the phrases are taken out."""
        if not DATA:
            self.skipTest(NO_DATA)
        for _, _, _, _, prompt in eval_prompts():
            self.assertLess(len(generate.folded(prompt)), 4500)
            self.assertEqual(generate.unfolded(generate.folded(prompt)), prompt)

    def test_phrases_hold_no_plan(self):
        """A token with the end of one action and the beginning of the next would keep plans from being cut between actions."""
        for phrase in templates.phrases():
            self.assertFalse(re.search(r'^\{"', phrase, re.M), phrase)

    def test_every_place_is_filled(self):
        for name in generate.DRAW:
            request = generate.DRAW[name](random.Random(1))
            self.assertFalse(re.search(r"@[A-Z_]+@", request.get("prompt", "")), name)


class Mistakes(unittest.TestCase):
    def test_rates(self):
        rng = random.Random(1)
        drawn = [mistakes.choose(rng, 7, "vh-as", str(i % 500), 0.4)[0] for i in range(5000)]
        share = sum(map(bool, drawn)) / len(drawn)
        self.assertAlmostEqual(share, 0.4, delta=0.05)
        self.assertEqual(mistakes.choose(rng, 7, "vh-as", "x", 0.0), ("", 0))

    def test_habits(self):
        """About the same thing the model is often wrong in the same way."""
        same = 0
        for i in range(200):
            kinds = [mistakes.choose(random.Random(j), 7, "vh-as", str(i), 0.5)[0] for j in range(10)]
            same += len(set(kinds)) == 1 and kinds[0] != ""
        self.assertGreater(same, 40)

    def test_texts(self):
        plan = '{"WALK": ["cup", "12"], "GRAB": ["cup", "12"]}'
        for kind in mistakes.IN_TEXT:
            for seed in range(5):
                self.assertNotEqual(mistakes.spoil_text(kind, seed, plan), plan)
        self.assertEqual(len(mistakes.spoil_goals("forget", 1, ["on(a, b)", "on(c, b)"], ["d"])), 1)


def write(file, text, executable=False):
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as out:
        out.write(text)
    if executable:
        os.chmod(file, 0o755)
    return file


def read(file):
    with open(file, "rb") as data:
        return data.read()


class Scripts(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def call(self, script, *options):
        """(status, what it said) of a script's main()."""
        out, error, status = io.StringIO(), io.StringIO(), 0
        with mock.patch.object(sys, "argv", [script.__name__ + ".py", *options]), contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                script.main()
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 1
                error.write("" if isinstance(ended.code, int) else f"{ended.code}\n")
        return status, out.getvalue() + error.getvalue()

    def fails(self, script, *options):
        """The one line that a script ends with."""
        status, said = self.call(script, *options)
        self.assertNotEqual(status, 0, options)
        self.assertEqual(said.count("\n"), 1, said)
        return said

    def shell(self, *command, path=None):
        """(status, stdout, stderr)"""
        environment = {**os.environ, "PATH": os.pathsep.join(filter(None, [path, os.environ["PATH"]]))}
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        return result.returncode, result.stdout, result.stderr

    def examples(self, name, count, *options):
        """A folder with examples of wah-goal, which are made fast, and its files."""
        status, said = self.call(generate, "--examples", PROGRAM, "--out", self.path(name), "--jobs", "1", "--modules", "wah-goal",
                                 "--scale", str(count / generate.COUNTS["wah-goal"]), *options)
        self.assertEqual(status, 0, said)
        return self.path(name)


class Generator(Scripts):
    def test_options_out_of_range(self):
        for option, value in [("--jobs", "0"), ("--scale", "nan"), ("--scale", "0"), ("--scale", "-1"), ("--scale", "inf"), ("--seconds", "nan"),
                              ("--chunks", "0"), ("--mistakes", "vh-as=x"), ("--mistakes", "wah-goal=2"), ("--mistakes", "wah-goal=-1"),
                              ("--mistakes", "wah-goal=nan"), ("--modules", "pddl,pddl"), ("--modules", "none")]:
            said = self.fails(generate, "--examples", PROGRAM, "--out", self.path("out"), option, value)
            self.assertIn(option, said)
            self.assertIn(value.split("=")[-1], said)
        self.assertFalse(os.path.exists(self.path("out")))
        self.assertEqual(generate.parse_rates("wah=0,pddl=1")["pddl"], 1)

    def test_what_was_there_outlives_a_failure(self):
        out = self.path("out")
        for name in ("train.jsonl", "valid.jsonl", "report.txt"):
            write(os.path.join(out, name), "old")
        broken = write(self.path("broken"), "#!/bin/sh\necho no disk >&2\nexit 3\n", executable=True)
        silent = write(self.path("silent"), "#!/bin/sh\n", executable=True)
        common = ("--out", out, "--jobs", "1", "--scale", "0.0001")
        self.assertIn("failed with 3: no disk", self.fails(generate, "--examples", broken, "--modules", "pddl", *common))
        self.assertIn("does not answer", self.fails(generate, "--examples", silent, "--modules", "pddl", *common))
        self.assertIn("is no program", self.fails(generate, "--examples", self.path("nowhere"), *common))
        self.assertIn("is no program", self.fails(generate, "--examples", self.folder, *common))
        self.assertIn("not one example to train on", self.fails(generate, "--examples", PROGRAM, "--modules", "wah-goal", "--chunks", "1", *common))
        self.assertEqual({name: read(os.path.join(out, name)) for name in os.listdir(out)},
                         {"train.jsonl": b"old", "valid.jsonl": b"old", "report.txt": b"old"})

    def test_chunks_are_always_the_same(self):
        whole, part, again = self.examples("whole", 200), self.examples("part", 200, "--chunks", "2"), self.examples("again", 200, "--jobs", "2")
        texts = [read(os.path.join(folder, "train.jsonl")) for folder in (whole, part, again)]
        self.assertEqual(texts[0], texts[2])
        self.assertTrue(texts[0].startswith(texts[1]))
        self.assertLess(len(texts[1]), len(texts[0]))
        self.assertIn(b"3 of 3 chunks", read(os.path.join(whole, "report.txt")))
        self.assertIn(b"(chunks: 1)", read(os.path.join(part, "report.txt")))

    def test_a_run_cut_short_says_where(self):
        folder = self.examples("cut", 5000, "--seconds", "0")
        self.assertIn(b"6 of 51 chunks, those to validate with included; the time was up: --chunks 6 draws", read(os.path.join(folder, "report.txt")))


class Tokens(Scripts):
    def test_examples_that_are_not_there(self):
        self.assertIn("train.jsonl: No such file", self.fails(bpe, self.folder))
        write(self.path("train.jsonl"), "")
        self.assertIn("train.jsonl: has no examples", self.fails(bpe, self.folder))
        write(self.path("train.jsonl"), '{"module": "pddl"}\n{"modu')
        self.assertIn("train.jsonl:2: is no example", self.fails(bpe, self.folder))
        self.assertEqual(os.listdir(self.folder), ["train.jsonl"])

    def test_token_files_know_their_vocabulary(self):
        first, second = self.examples("first", 60), self.examples("second", 60, "--more", "others")
        for folder in (first, second):
            self.assertEqual(self.call(bpe, folder, "--jobs", "1")[0], 0)
        files = [os.path.join(folder, name) for folder in (first, second) for name in ("train.tokens", "valid.tokens")]
        digests = [bpe.Tokenizer.load(os.path.join(folder, "vocab.json")).digest() for folder in (first, second)]
        self.assertNotEqual(*digests)
        self.assertEqual(bpe.vocabulary_of(files[:2]), digests[0])
        with self.assertRaisesRegex(SystemExit, "first/train.tokens and .*second/train.tokens were written with different vocabularies"):
            bpe.vocabulary_of(files)
        self.assertEqual(self.call(bpe, second, "--jobs", "1", "--vocabulary", os.path.join(first, "vocab.json"))[0], 0)
        self.assertEqual(bpe.vocabulary_of(files), digests[0])
        with self.assertRaisesRegex(SystemExit, "does not say which vocabulary"):
            bpe.vocabulary_of([write(self.path("old.tokens"), "x" * 100)])

    def test_digest_is_of_the_content(self):
        merges, phrases = [["a", "b"], ["c", "d"]], ["some words"]
        file = write(self.path("vocab.json"), json.dumps({"phrases": phrases, "merges": merges}, indent=2))
        self.assertEqual(bpe.Tokenizer.load(file).digest(), bpe.Tokenizer(merges, phrases).digest())
        self.assertNotEqual(bpe.Tokenizer(merges[::-1], phrases).digest(), bpe.Tokenizer(merges, phrases).digest())


class Make(Scripts):
    MAKE = "models/pocket/make"

    def refused(self, *options, path=None):
        """The one line that make says before its first stage."""
        status, out, error = self.shell(self.MAKE, "--work", self.path("work"), *options, path=path)
        self.assertNotEqual(status, 0)
        self.assertEqual(out, "")
        self.assertEqual(error.count("\n"), 1, error)
        return error

    def test_options(self):
        for option in ("--scale", "--train-options", "--program"):
            self.assertIn(f"{option} needs a value", self.refused(option))
        self.assertIn("no option or stage '--scales'", self.refused("--scales", "1"))
        status, out, _ = self.shell("bash", "-c", "cd models/pocket/templates && ../make --help")
        self.assertEqual(status, 0)
        self.assertIn("--chunks N", out)

    def test_missing_packages(self):
        """Python without its packages finds neither NumPy nor PyTorch."""
        write(self.path("bin", "python3"), f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', executable=True)
        for stages in ((), ("train",), ("export",)):
            self.assertIn("apt install python3-numpy python3-torch", self.refused(*stages, path=self.path("bin")))
        for script in ("train.py", "export_gguf.py", "import_gguf.py"):
            status, _, error = self.shell(sys.executable, "-S", "models/pocket/" + script)
            self.assertEqual(status, 1)
            self.assertRegex(error, f"^{script}: .* has no NumPy and no PyTorch; .*pip install numpy torch.*\n$")

    def test_a_training_that_is_there(self):
        write(self.path("work", "run", "training.pt"), "")
        self.assertIn("would learn another vocabulary", self.refused())
        self.assertIn("would learn another vocabulary", self.refused("tokens"))
        self.assertIn("--start begins one", self.refused("--train-options", "--start model.pt", "train"))
        self.assertIn("vocabulary in", self.refused("--more", "more", "generate", "tokens"))

    def test_measure_needs_what_it_measures(self):
        self.assertIn("needs --data", self.refused("measure"))
        data, program = self.path("data"), write(self.path("program"), "#!/bin/sh\necho out of order >&2\nexit 32\n", executable=True)
        self.assertIn("no eai_vh/", self.refused("--data", data, "measure"))
        for part in ("eai_vh", "eai_beh", "wah_nl"):
            os.makedirs(os.path.join(data, part))
        self.assertIn("no program", self.refused("--data", data, "--program", data, "measure"))
        self.assertIn("no model", self.refused("--data", data, "--program", program, "measure"))
        write(self.path("work", "pocket.gguf"), "")
        status, out, error = self.shell(self.MAKE, "--work", self.path("work"), "--data", data, "--program", program, "measure")
        self.assertNotEqual(status, 0)
        self.assertNotIn("the robot's table", out)
        self.assertRegex(error, "out of order\nmake: .* plan failed with 32\n")

    def test_pack(self):
        status, out, _ = self.shell("models/pocket/pack", "--help")
        self.assertEqual(status, 0)
        self.assertIn("models/pocket/pack [FILE]", out)
        self.assertEqual(self.shell("models/pocket/pack", "--list")[0], 2)
        self.assertFalse(os.path.exists("--help") or os.path.exists("--list"))


class Replacing(Scripts):
    def test_all_or_nothing(self):
        files = [write(self.path(name), "old") for name in ("a", "b")]
        with self.assertRaises(KeyboardInterrupt), support.replacing(*files) as names:
            write(names[0], "new")
            raise KeyboardInterrupt
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "b"])
        self.assertEqual([read(file) for file in files], [b"old"] * 2)
        with support.replacing(*files) as names:
            for name in names:
                write(name, "new")
            self.assertEqual([read(file) for file in files], [b"old"] * 2)
        self.assertEqual([read(file) for file in files], [b"new"] * 2)


@unittest.skipUnless(importlib.util.find_spec("numpy") and importlib.util.find_spec("torch"), "no NumPy or no PyTorch")
class Training(Scripts):
    SIZE = "--device cpu --width 32 --layers 1 --heads 2 --key-heads 1 --hidden 32 --batch 1024 --seconds".split()

    def setUp(self):
        super().setUp()
        self.data = self.examples("data", 10)
        lines = read(os.path.join(self.data, "valid.jsonl")).decode().splitlines()[:3]
        write(os.path.join(self.data, "valid.jsonl"), "\n".join(lines))
        self.assertEqual(self.call(bpe, self.data, "--jobs", "1")[0], 0)

    def train(self, *options):
        import train
        return self.call(train, "--data", self.data, "--out", self.path("run"), *self.SIZE, *options)

    def learn_another_vocabulary(self):
        lines = read(os.path.join(self.data, "train.jsonl")).decode().splitlines()
        write(os.path.join(self.data, "train.jsonl"), "\n".join(lines[:3]))
        self.assertEqual(self.call(bpe, self.data, "--jobs", "1")[0], 0)

    def files(self):
        return {name: read(self.path("run", name)) for name in os.listdir(self.path("run"))}

    def test_checkpoints(self):
        self.assertEqual(self.train("1000", "--stop-after", "0")[0], 0)
        once = self.files()
        self.assertEqual(sorted(once), ["log.tsv", "log.txt", "model.pt", "training.pt"])
        status, said = self.train("0.001", "--resume")
        self.assertEqual((status, self.files()), (0, once))
        self.assertIn("this training is done", said)
        write(self.path("run", "model.pt"), "of a later checkpoint")  # killed between the two
        self.assertEqual(self.train("1000", "--stop-after", "0", "--resume")[0], 0)
        self.assertEqual([row.split(b"\t")[0] for row in self.files()["log.tsv"].splitlines()], [b"step", b"1", b"2"])
        self.assertIn("not allowed with", self.train("1000", "--resume", "--start", "model.pt")[1])
        write(self.path("empty.pt"), "")
        self.assertIn("empty.pt: is no file of train.py", self.train("1000", "--start", self.path("empty.pt"))[1])
        self.assertIn("nowhere.pt: No such file", self.train("1000", "--start", self.path("nowhere.pt"))[1])
        self.assertIn("of another size", self.train("1000", "--resume", "--hidden", "64")[1])

    def test_weights_belong_to_a_vocabulary(self):
        import export_gguf
        import import_gguf
        self.assertEqual(self.train("1000", "--stop-after", "0")[0], 0)
        model, vocabulary, out = self.path("run", "model.pt"), os.path.join(self.data, "vocab.json"), self.path("a.gguf")
        self.assertEqual(self.call(export_gguf, model, vocabulary, out)[0], 0)
        self.assertEqual(self.call(import_gguf, out, self.path("back"))[0], 0)
        self.assertEqual(read(self.path("back", "vocab.json")), read(vocabulary))
        self.assertEqual(self.call(export_gguf, self.path("back", "model.pt"), vocabulary, self.path("b.gguf"))[0], 0)
        self.assertEqual(read(out), read(self.path("b.gguf")))
        self.learn_another_vocabulary()
        before = self.files()
        for options in (("--resume",), ("--start", model), ("--start", self.path("back", "model.pt"))):
            status, said = self.train("1000", *options)
            self.assertEqual((status, self.files()), (1, before))
            self.assertIn("another vocabulary", said)
        self.assertIn("another vocabulary", self.fails(export_gguf, model, vocabulary, out))
        self.assertEqual(read(out), read(self.path("b.gguf")))


class Plot(unittest.TestCase):
    def test_curves(self):
        table = {"step": [1, 2], "seconds": [10.0, 20.0], "tokens": [1, 2], "rate": [1, 1], "loss": [2.0, 0.5], "valid": [1.5, 0.4],
                 "exact": [0, 0.5], "vh-as": [1.0, 0.1]}
        text = plot.draw(table)
        self.assertEqual(text.count("<polyline"), 3)
        self.assertIn("vh-as 0.100", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: check.py PROGRAM")
    PROGRAM = os.path.abspath(sys.argv[1])
    DATA = os.path.abspath(os.environ.get("METACTRL_DATA") or os.path.join(ROOT, "..", "shared", "data"))
    DATA = DATA if os.path.isdir(os.path.join(DATA, "eai_vh")) else None
    os.chdir(ROOT)
    unittest.main(argv=sys.argv[:1], warnings="ignore", verbosity=2)
