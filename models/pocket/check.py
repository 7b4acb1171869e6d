#!/usr/bin/env python3
"""Tests of the generator, with a few examples of each module. Standard library only; some seconds.

    check.py PROGRAM [--data FOLDER]     PROGRAM: examples.cc, compiled; FOLDER: the benchmarks' prompts, where they are
"""
import collections
import json
import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bpe  # noqa: E402
import excluded  # noqa: E402
import generate  # noqa: E402
import mistakes  # noqa: E402
import plot  # noqa: E402
import templates  # noqa: E402
import watch_and_help  # noqa: E402

PROGRAM, DATA = None, None
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
            self.skipTest("no --data")
        banned = excluded.load()
        for _, begin, pattern, kind, prompt in eval_prompts():
            self.assertIn(excluded.key(kind, excluded.prompt_objects(prompt, begin, pattern)), banned)
        self.assertTrue(set(excluded.task_keys(DATA)) <= banned)


class Templates(unittest.TestCase):
    def test_all_prompts_of_the_benchmarks_have_their_words(self):
        """Nothing but what differs from task to task is left when the phrases are taken out."""
        if not DATA:
            self.skipTest("no --data")
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


class Plot(unittest.TestCase):
    def test_curves(self):
        table = {"step": [1, 2], "seconds": [10.0, 20.0], "tokens": [1, 2], "rate": [1, 1], "loss": [2.0, 0.5], "valid": [1.5, 0.4],
                 "exact": [0, 0.5], "vh-as": [1.0, 0.1]}
        text = plot.draw(table)
        self.assertEqual(text.count("<polyline"), 3)
        self.assertIn("vh-as 0.100", text)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("usage: check.py PROGRAM [--data FOLDER]")
    PROGRAM = os.path.abspath(sys.argv[1])
    if "--data" in sys.argv:
        DATA = sys.argv[sys.argv.index("--data") + 1]
        DATA = DATA if os.path.isdir(os.path.join(DATA, "eai_vh")) else None
    os.chdir(ROOT)
    unittest.main(argv=sys.argv[:1], warnings="ignore")
