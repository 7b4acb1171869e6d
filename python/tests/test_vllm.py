"""The plug-in for vLLM in both of its model runners, or what stands for them (vllm_double.py): every answer is a plan, and who fails fails alone."""

import dataclasses
import random
import unittest

import vllm_double
from servers import DOMAIN, ENDS, LOST, MARKER, Answers, allowed, given, problem_text, same
from support import metactrl, needs, problems
from vllm_double import V1, V2, Asked, Params

def turn(asked):
    """What it has written up to the end of its turn; rows that have ended go on being sampled."""
    return asked.tokens[: 1 + next(place for place, token in enumerate(asked.tokens) if token in ENDS)]


LOST_ARGS = {"metactrl_domain": LOST[0], "metactrl_problem": LOST[1]}


def params(draw):
    name, wanted = given(draw)
    extra = {f"metactrl_{key}": value for key, value in wanted.items()}
    extra["metactrl_horizon"] = 12.0  # as HTTP has it
    if draw.random() < 0.5:
        extra["metactrl_task"] = name
    else:
        extra.update(metactrl_domain=DOMAIN, metactrl_problem=problem_text(name))
    return name, wanted, Params(extra)


class Engine(unittest.TestCase):
    """What both runners are asked for."""

    def asked(self, draw):
        """A request, one in seven without a plan to write."""
        name, wanted, its = params(draw) if draw.random() < 0.85 else ("", {}, Params())

        def choose(row, tokens):
            if made.ours and not made.thinks:
                return draw.choice(allowed(row))
            if len(tokens) > draw.randrange(20):
                return MARKER if made.thinks else ENDS[0]
            return draw.randrange(200)

        made = Asked(its, [draw.randrange(200) for _ in range(draw.randint(2, 6))], choose)
        made.name, made.wanted = name, wanted
        return made

    def fixed(self, extra, draw):
        """A request for exactly this; a model that takes whatever is allowed."""
        return Asked(Params(extra), [1, 2, 3], lambda row, tokens: draw.choice(allowed(row)))


@needs("torch", "PyTorch")
class Vllm(Engine):
    @classmethod
    def setUpClass(cls):
        vllm_double.install()
        import metactrl.vllm

        cls.module = metactrl.vllm
        cls.processor = metactrl.vllm.MetactrlLogitsProcessor

    def test_it_is_of_both_kinds(self):
        self.assertTrue(issubclass(self.processor, vllm_double.V1Processor))
        self.assertTrue(issubclass(self.processor, vllm_double.V2Processor))

    def test_v1(self):
        draw = random.Random(1)
        runner, answers, free = V1(self.processor, draw), Answers(self, "assistant:\n"), 0
        self.assertFalse(runner.processor.is_argmax_invariant())
        for _ in range(5000):
            arriving = []
            for row, asked in enumerate(runner.rows):
                if asked.done:
                    runner.remove(row)
                    if asked.ours:
                        answers.check(asked.name, asked.wanted, asked.tokens)
                elif draw.random() < 0.02:  # preempted, and resumed with what it has written
                    runner.remove(row)
                    arriving.append(asked)
            while sum(one is not None for one in runner.rows) + len(arriving) < 6 and answers.made < 20:
                arriving.append(self.asked(draw))
            if not arriving and all(one is None for one in runner.rows):
                break
            thinking = {asked: asked.thinks or not asked.ours for asked in arriving + [one for one in runner.rows if one is not None]}
            before, after = runner.step(arriving)
            for row, asked in enumerate(runner.rows):
                if thinking[asked]:
                    self.assertTrue(same(before[row], after[row]))
                    free += 1
        self.assertGreaterEqual(answers.made, 20)
        self.assertGreater(free, 20)

    def test_v1_without_its_tokens(self):
        draw = random.Random(1)
        runner = V1(self.processor, draw, repairs=False)
        runner.step([self.fixed({"metactrl_task": problems()[0]}, draw)])
        with self.assertRaisesRegex(RuntimeError, "--logits-processors"):
            runner.step()

    def test_v2_with_drafts_and_preemption(self):
        draw = random.Random(2)
        answers, drafted = Answers(self, "assistant:\n"), [0, 0]

        def drafter(asked):
            """Of one who knows, so that some are right, and of nobody."""
            if draw.random() < 0.6:
                return []
            drafts = [draw.choice((MARKER, draw.randrange(256)))]
            if asked.ours and "after" not in asked.wanted:
                decoder = metactrl.Decoder(answers.constraint(asked.name, asked.wanted["format"]))
                decoder.seek(asked.tokens)
                drafts = (decoder.forced()[:2] or decoder.next()[0][:1]) + drafts
            drafted[0] += len(drafts)
            return drafts

        runner = V2(self.processor, draw, drafter=drafter)
        for _ in range(5000):
            while len(runner.running) < 5 and answers.made < 20:
                asked = self.asked(draw)
                self.assertEqual(runner.add(asked), asked.ours)
            if not runner.running:
                break
            lengths = {asked: len(asked.tokens) for asked in runner.running.values()}
            slots, before, after = runner.step()
            for row, slot in enumerate(slots):
                if slot is not None and (not runner.running[slot].ours or runner.running[slot].thinks):
                    self.assertTrue(same(before[row], after[row]))
            drafted[1] += sum(max(0, len(asked.tokens) - length - 1) for asked, length in lengths.items())
            for slot, asked in list(runner.running.items()):
                if asked.done:
                    runner.remove(slot)
                    if asked.ours:
                        answers.check(asked.name, asked.wanted, asked.tokens)
        self.assertGreaterEqual(answers.made, 20)
        self.assertGreater(drafted[1], 20, "drafts that were right")
        self.assertGreater(drafted[0], drafted[1], "drafts that were not")

    def test_v2_leaves_the_device_alone(self):
        """Where no row is ours, nothing is read back: slots of requests that have ended are still known."""
        import numpy

        draw = random.Random(3)
        runner = V2(self.processor, draw)
        runner.add(self.fixed({"metactrl_task": problems()[0]}, draw))
        ((slot, _),) = runner.running.items()
        other = vllm_double.LogitsContext(None, None, numpy.array([slot - 1]), None, None, None, None)
        logits = object()
        self.assertIs(runner.processor.apply(logits, other), logits)

    def test_a_marker_in_a_draft_is_no_marker(self):
        """A draft ends the thinking, and is not taken: the model still thinks."""
        draw = random.Random(4)
        runner = V2(self.processor, draw, drafter=lambda asked: [MARKER] if len(asked.tokens) in (2, 3) else [])
        writes = iter([65, 66, 67, 68, 69, MARKER])
        asked = Asked(
            Params({"metactrl_task": problems()[0], "metactrl_after": "</think>"}), [1], lambda row, _: next(writes, None) or draw.choice(allowed(row)))
        runner.add(asked)
        while len(asked.tokens) < 5:
            slots, before, after = runner.step()
            if slots[0] is not None and MARKER not in asked.tokens:
                self.assertTrue(same(before[0], after[0]))
        while MARKER not in asked.tokens or len(asked.tokens) < 8:
            slots, before, after = runner.step()
        self.assertLess(len(allowed(after[0])), 20)

    def test_a_draft_that_ends_the_thinking_of_who_has_no_plan(self):
        """The row behind a draft that is right says why, like every other."""
        runner = V2(self.processor, random.Random(10), drafter=lambda asked: [MARKER] if len(asked.tokens) == 2 else [])
        draw, writes = random.Random(11), iter([65, 66, MARKER])
        asked = Asked(Params({**LOST_ARGS, "metactrl_after": "</think>"}), [1], lambda row, _: next(writes, None) or draw.choice(allowed(row)))
        runner.add(asked)
        with self.assertLogs("metactrl", "WARNING"):
            while not asked.done:
                runner.step()
        Answers(self).check_failed(asked.tokens[3:], "goal")

    def test_what_is_refused(self):
        validate = self.processor.validate_params
        validate(Params())
        validate(Params({"other": 1}, ignore_eos=True))
        validate(Params({"metactrl_domain": DOMAIN, "metactrl_problem": problem_text(problems()[0])}))
        good = {"metactrl_task": "x"}
        validate(Params({**good, "metactrl_after": "</think>"}, thinking_token_budget=30))
        for wrong in (
            Params({"metactrl_nonsense": "x"}), Params({"metactrl_domain": DOMAIN}), Params({"metactrl_task": 3}),
            Params({**good, "metactrl_format": "latin"}), Params({**good, "metactrl_guidance": "none"}), Params({**good, "metactrl_horizon": -1}),
            Params({**good, "metactrl_horizon": "many"}), Params({**good, "metactrl_horizon": float("inf")}), Params(good, ignore_eos=True),
            Params(good, min_tokens=3), Params(good, stop=["\n"]), Params(good, logit_bias={1: 2.0}), Params(good, repetition_penalty=1.2),
            Params(good, structured_outputs=object()), Params(good, thinking_token_budget=30), Params(good, trace_decode_token_ids=[1]),
            Params({"metactrl_domain": "(define (domain", "metactrl_problem": ""}), Params({**good, "metactrl_after": "\ud800"}),
        ):
            with self.assertRaises(ValueError):
                validate(wrong)

    def check_failures(self, runner, add):
        """A batch in which most requests fail, each in its way, and the others do not notice."""
        draw, answers = random.Random(5), Answers(self, "assistant:\n")
        name = problems()[0]
        bad = [
            (LOST_ARGS, "goal"),
            ({"metactrl_task": "nobody knows it"}, "there is no task"),
            ({"metactrl_task": name, "metactrl_guidance": "trained"}, "needs a model of plans"),
            ({"metactrl_domain": "(define (domain", "metactrl_problem": ""}, "domain"),
        ]
        failing = [(self.fixed(extra, draw), reason) for extra, reason in bad]
        good = self.fixed({"metactrl_task": name, "metactrl_format": "json", "metactrl_horizon": 12}, draw)
        add([good] + [asked for asked, _ in failing])
        with self.assertLogs("metactrl", "WARNING") as log:
            for _ in range(2000):
                if all(asked.done for asked in [good] + [asked for asked, _ in failing]):
                    break
                runner.step()
        self.assertEqual(len({record.getMessage() for record in log.records}), len(failing))
        answers.check(name, {"format": "json"}, turn(good))
        for asked, reason in failing:
            answers.check_failed(turn(asked), reason)

    def test_v1_fails_alone(self):
        runner = V1(self.processor, random.Random(6))
        self.check_failures(runner, lambda asked: [runner.add(one) for one in asked])

    def test_v2_fails_alone(self):
        runner = V2(self.processor, random.Random(7))
        self.check_failures(runner, lambda asked: [runner.add(one) for one in asked])

    def test_a_plan_that_fails_on_its_way(self):
        """A token that may not come, and a decoder that breaks: the answer says so behind what was written."""
        draw = random.Random(8)
        for breaks in (False, True):
            runner = V1(self.processor, random.Random(9))
            asked = self.fixed({"metactrl_task": problems()[0]}, draw)
            other = self.fixed({"metactrl_task": problems()[0], "metactrl_horizon": 12, "metactrl_format": "json"}, draw)
            runner.step([asked, other])
            if breaks:
                request = runner.processor._slots[runner.rows.index(asked)][0]
                request._decoder, request.wanted = None, dataclasses.replace(request.wanted, guidance="no such guidance")
            else:
                asked.tokens[-1] = runner.sampled[asked] = 200
            with self.assertLogs("metactrl", "WARNING"):
                for _ in range(2000):
                    if asked.done and other.done:
                        break
                    runner.step()
            answers = Answers(self, "assistant:\n")
            text = answers.vocabulary.decode(turn(asked)[:-1]).decode("utf-8", "replace")
            self.assertIn("\nmetactrl: no plan: " + ("there is no guidance" if breaks else "the engine took a token that may not come"), text)
            answers.check(problems()[0], {"format": "json"}, turn(other))


del Engine

if __name__ == "__main__":
    unittest.main(verbosity=2)
