"""The plug-ins for vLLM and SGLang against doubles of their interfaces: requests that come, go and move, slots that are reused, drafts that are taken back,
prompts in parts, rows that are not ours, and logits as no model gives them. Every answer is checked by its tokens alone."""

import enum
import json
import random
import sys
import types
import unittest

from support import TABLETOP, metactrl, needs, problems, task
from test_tokenizers import Slow

SIZE = 290
ENDS = (256, 285)
DOMAIN = (TABLETOP / "domain.pddl").read_text()


def problem_text(name):
    return (TABLETOP / f"{name}.pddl").read_text()


class SlowWithMarker(Slow):
    """Has a special token that ends thinking."""

    def __init__(self):
        super().__init__()
        from test_tokenizers import Added

        self.vocabulary["</think>"] = 283
        self.added_tokens_decoder[283] = Added("</think>", True)
        self.all_special_ids = [256, 283]


# --- doubles of vLLM


class MoveDirectionality(enum.Enum):
    UNIDIRECTIONAL = 0
    SWAP = 1


class BatchUpdate:
    def __init__(self, batch_size, removed=(), added=(), moved=()):
        self.batch_size, self.removed, self.added, self.moved = batch_size, removed, added, moved


def install_vllm():
    """What metactrl.vllm imports: the base classes of both runners, and the engine's tokenizer."""
    import abc

    class V1(abc.ABC):
        @classmethod
        def validate_params(cls, sampling_params):
            return None

        @abc.abstractmethod
        def __init__(self, vllm_config, device, is_pin_memory):
            raise NotImplementedError

        @abc.abstractmethod
        def apply(self, logits):
            raise NotImplementedError

        @abc.abstractmethod
        def is_argmax_invariant(self):
            raise NotImplementedError

        @abc.abstractmethod
        def update_state(self, batch_update):
            raise NotImplementedError

    class V2(abc.ABC):
        @abc.abstractmethod
        def __init__(self, vllm_config, req_states):
            raise NotImplementedError

        @abc.abstractmethod
        def add_request(self, req_idx, sampling_params):
            raise NotImplementedError

        @abc.abstractmethod
        def apply(self, logits, ctx):
            raise NotImplementedError

    names = ["vllm", "vllm.v1", "vllm.v1.sample", "vllm.v1.sample.logits_processor", "vllm.v1.worker", "vllm.v1.worker.gpu",
             "vllm.v1.worker.gpu.sample", "vllm.v1.worker.gpu.sample.logits_processor", "vllm.tokenizers"]
    modules = {name: types.ModuleType(name) for name in names}
    modules["vllm.v1.sample.logits_processor"].LogitsProcessor = V1
    modules["vllm.v1.worker.gpu.sample.logits_processor"].LogitsProcessor = V2
    modules["vllm.tokenizers"].cached_tokenizer_from_config = lambda config: SlowWithMarker()
    sys.modules.update(modules)
    return V1, V2


class ModelConfig:
    tokenizer = "slow"

    def get_vocab_size(self):
        return SIZE

    def try_get_generation_config(self):
        return {"eos_token_id": list(ENDS)}


class VllmConfig:
    model_config = ModelConfig()
    additional_config = {
        "metactrl": {
            "context": "assistant:\n",
            "tasks": {name: [str(TABLETOP / "domain.pddl"), str(TABLETOP / f"{name}.pddl")] for name in problems()},
        }
    }


class Params:
    def __init__(self, extra_args=None, **other):
        self.extra_args = extra_args
        self.ignore_eos, self.min_tokens, self.logit_bias, self.stop = False, 0, None, []
        self.repetition_penalty, self.presence_penalty = 1.0, 0.0
        self.__dict__.update(other)


def params(draw):
    name = draw.choice(problems())
    given = {"metactrl_format": draw.choice(("pddl", "json")), "metactrl_guidance": draw.choice(("uniform", "mask")), "metactrl_horizon": 12.0}
    if draw.random() < 0.5:
        given["metactrl_task"] = name
    else:
        given.update(metactrl_domain=DOMAIN, metactrl_problem=problem_text(name))
    if draw.random() < 0.3:
        given["metactrl_after"] = "</think>"
    return name, Params(given)


def hostile(rows, draw):
    import torch

    logits = torch.randn(rows, SIZE) * 4
    kind = draw.randrange(4)
    if kind == 0:
        logits[torch.rand_like(logits) < 0.3] = float("nan")
    if kind == 1:
        logits[torch.rand_like(logits) < 0.3] = float("inf")
    if kind == 2:
        logits[:] = -float("inf")
    return logits


def pick(row, draw):
    """A token as a sampler takes it; from a row without any bound, whatever it likes."""
    import torch

    allowed = torch.isfinite(row).nonzero().flatten().tolist()
    return draw.choice(allowed)


class Answers:
    """What engines write, checked when it has ended."""

    def __init__(self, case):
        self.case, self.made = case, 0
        self.vocabulary = metactrl.Vocabulary.from_tokenizer(SlowWithMarker(), size=SIZE, end_of_turn=ENDS)
        self.constraints = {}

    def check(self, name, params, tokens, context):
        given = params.extra_args
        if "metactrl_after" in given:
            tokens = tokens[tokens.index(283) + 1 :]
        key = name, given["metactrl_format"]
        if key not in self.constraints:
            self.constraints[key] = metactrl.Constraint(task(name), self.vocabulary, key[1], context=context, horizon=12)
        answer = self.constraints[key].check(tokens)
        self.case.assertTrue(answer, answer.reason + answer.text)
        self.case.assertTrue(task(name).validate(answer.text, key[1]))
        self.made += 1


@needs("torch", "PyTorch")
class Vllm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bases = install_vllm()
        import metactrl.vllm

        cls.module = metactrl.vllm

    def test_it_is_of_both_kinds(self):
        self.assertTrue(all(issubclass(self.module.MetactrlLogitsProcessor, base) for base in self.bases))

    def test_v1(self):
        import torch

        draw = random.Random(1)
        processor = self.module.MetactrlLogitsProcessor(VllmConfig(), torch.device("cpu"), False)
        self.assertFalse(processor.is_argmax_invariant())
        answers = Answers(self)
        rows = []  # what the engine has in each row: (name, params or None, tokens)
        free = 0
        for _ in range(5000):
            removed, added, moved = [], [], []
            for row in [row for row, one in enumerate(rows) if one is not None and one[2] and one[2][-1] in ENDS]:
                name, given, tokens = rows[row]
                if given.extra_args:
                    answers.check(name, given, tokens, "assistant:\n")
                removed.append(row)
                rows[row] = None
            while sum(one is not None for one in rows) < 6 and answers.made < 20:
                place = rows.index(None) if None in rows else len(rows)
                name, given = params(draw) if draw.random() < 0.8 else ("", Params())
                one = (name, given, [])
                rows[place : place + 1] = [one]
                if place in removed:
                    removed.remove(place)
                added.append((place, given, [1, 2, 3], one[2]))
            # The last row moves into a hole, or two rows change places.
            if None in rows and rows[-1] is not None:
                hole = rows.index(None)
                rows[hole], rows[-1] = rows[-1], None
                moved.append((len(rows) - 1, hole, MoveDirectionality.UNIDIRECTIONAL))
            elif len(rows) > 2 and draw.random() < 0.3 and None not in rows:
                one, other = draw.sample(range(len(rows)), 2)
                rows[one], rows[other] = rows[other], rows[one]
                moved.append((one, other, MoveDirectionality.SWAP))
            while rows and rows[-1] is None:
                rows.pop()
            if not rows:
                break
            nothing = not (removed or added or moved)
            processor.update_state(None if nothing else BatchUpdate(len(rows), removed, added, moved))
            logits = hostile(len(rows), draw)
            before = logits.clone()
            after = processor.apply(logits)
            for row, one in enumerate(rows):
                if one is None:
                    continue
                thinking = "metactrl_after" in (one[1].extra_args or {}) and 283 not in one[2]
                if not one[1].extra_args or thinking:
                    self.assertTrue(torch.equal(torch.nan_to_num(after[row], 7.0), torch.nan_to_num(before[row], 7.0)))
                    token = 283 if thinking and len(one[2]) > 4 else draw.randrange(200)
                    if not thinking and len(one[2]) > 20:
                        token = 256
                    free += 1
                else:
                    token = pick(after[row], draw)
                one[2].append(token)
        self.assertGreaterEqual(answers.made, 20)
        self.assertGreater(free, 20)

    def test_v1_without_its_tokens(self):
        import torch

        processor = self.module.MetactrlLogitsProcessor(VllmConfig(), torch.device("cpu"), False)
        processor.update_state(BatchUpdate(1, added=[(0, Params({"metactrl_task": problems()[0]}), None, [-1])]))
        with self.assertRaisesRegex(RuntimeError, "--logits-processors"):
            processor.apply(torch.zeros(1, SIZE))

    def test_v2_with_drafts_and_preemption(self):
        import torch

        class States:
            device, max_num_reqs, vocab_size = torch.device("cpu"), 8, SIZE
            all_token_ids = torch.zeros(8, 4000, dtype=torch.int32)
            prompt_len, prefill_len, total_len = (torch.zeros(8, dtype=torch.int32) for _ in range(3))

        class Context:
            pass

        draw = random.Random(2)
        states = States()
        processor = self.module.MetactrlLogitsProcessor(VllmConfig(), states)
        answers = Answers(self)
        slots = {}
        for _ in range(5000):
            while len(slots) < 5 and answers.made < 20:
                slot = draw.choice([free for free in range(7) if free not in slots])  # slot 7 is never added: a warm-up
                name, given = params(draw) if draw.random() < 0.85 else ("", Params())
                prompt = [draw.randrange(200) for _ in range(draw.randint(2, 6))]
                slots[slot] = [name, given, prompt, [], 0]  # ..., answer, how much of all that was read
                states.prompt_len[slot] = states.prefill_len[slot] = states.total_len[slot] = len(prompt)
                states.all_token_ids[slot, : len(prompt)] = torch.tensor(prompt, dtype=torch.int32)
                self.assertEqual(processor.add_request(slot, given), bool(given.extra_args))
            if not slots:
                break
            order = draw.sample(sorted(slots), len(slots))
            mapping, pos, fed, plan = [], [], [], []
            for slot in order + ([7] if draw.random() < 0.2 else []):
                if slot == 7:
                    mapping.append(7), pos.append(0), fed.append(0), plan.append(None)
                    continue
                name, given, prompt, answer, read = slots[slot]
                everything = prompt + answer
                if draw.random() < 0.03:  # preempted: all of it is read again
                    slots[slot][4] = 0
                    states.prefill_len[slot] = len(everything)
                    read = 0
                if read < len(everything) - 1 and draw.random() < 0.3:  # a part of what is read again
                    slots[slot][4] = read + 1
                    mapping.append(slot), pos.append(read), fed.append(everything[read]), plan.append(None)
                    continue
                slots[slot][4] = len(everything)
                mapping.append(slot), pos.append(len(everything) - 1), fed.append(everything[-1]), plan.append((slot, 0))
                if given.extra_args and "metactrl_after" not in given.extra_args and draw.random() < 0.4:
                    # Drafts: of a decoder that knows, so that some are right, and of nobody.
                    decoder = metactrl.Decoder(self.constraint_of(answers, name, given))
                    decoder.seek(answer)
                    drafts = decoder.forced()[:2] or [draw.choice(decoder.next()[0] or [5])]
                    drafts.append(draw.randrange(256))
                    for number, token in enumerate(drafts, 1):
                        mapping.append(slot), pos.append(len(everything) - 1 + number), fed.append(token), plan.append((slot, number))
            ctx = Context()
            ctx.expanded_idx_mapping, ctx.pos, ctx.input_ids = (torch.tensor(values) for values in (mapping, pos, fed))
            logits = hostile(len(mapping), draw)
            before = torch.nan_to_num(logits.clone(), 7.0)
            after = processor.apply(logits, ctx)
            accepted = {}
            for row, what in enumerate(plan):
                if what is None:
                    self.assertTrue(torch.equal(torch.nan_to_num(after[row], 7.0), before[row]))
                    continue
                slot, number = what
                name, given, prompt, answer, _ = slots[slot]
                if number > 0 and accepted.get(slot) != fed[row]:
                    accepted[slot] = None  # the draft before was not taken, so nothing behind it is
                    continue
                thinking = "metactrl_after" in (given.extra_args or {}) and 283 not in answer
                if not given.extra_args or thinking:
                    token = 283 if thinking and len(answer) > 3 else 256 if not thinking and len(answer) > 9 else draw.randrange(200)
                else:
                    token = pick(after[row], draw)
                if answer and answer[-1] in ENDS:
                    continue
                answer.append(token)
                accepted[slot] = token
                slots[slot][4] = len(prompt) + len(answer) - 1  # drafts that were right need not be read again
            for slot in order:
                name, given, prompt, answer, _ = slots[slot]
                everything = prompt + answer
                states.all_token_ids[slot, : len(everything)] = torch.tensor(everything, dtype=torch.int32)
                states.total_len[slot] = len(everything)
                if answer and answer[-1] in ENDS:
                    if given.extra_args:
                        answers.check(name, given, answer, "assistant:\n")
                    del slots[slot]
        self.assertGreaterEqual(answers.made, 20)

    def constraint_of(self, answers, name, given):
        key = name, given.extra_args["metactrl_format"]
        if key not in answers.constraints:
            answers.constraints[key] = metactrl.Constraint(task(name), answers.vocabulary, key[1], context="assistant:\n", horizon=12)
        return answers.constraints[key]

    def test_what_is_refused(self):
        validate = self.module.MetactrlLogitsProcessor.validate_params
        validate(Params())
        validate(Params({"other": 1}, ignore_eos=True))
        validate(Params({"metactrl_domain": DOMAIN, "metactrl_problem": problem_text(problems()[0])}))
        good = {"metactrl_task": "x"}
        for wrong in (
            Params({"metactrl_nonsense": "x"}), Params({"metactrl_domain": DOMAIN}), Params({"metactrl_task": 3}),
            Params({**good, "metactrl_format": "latin"}), Params({**good, "metactrl_guidance": "none"}), Params({**good, "metactrl_horizon": -1}),
            Params({**good, "metactrl_horizon": "many"}), Params(good, ignore_eos=True), Params(good, min_tokens=3), Params(good, stop=["\n"]),
            Params(good, logit_bias={1: 2.0}), Params(good, repetition_penalty=1.2),
            Params({"metactrl_domain": "(define (domain", "metactrl_problem": ""}),
        ):
            with self.assertRaises(ValueError):
                validate(wrong)

    def test_a_task_without_a_plan_ends_alone(self):
        import torch

        processor = self.module.MetactrlLogitsProcessor(VllmConfig(), torch.device("cpu"), False)
        domain = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (q)))"
        lost = {"metactrl_domain": domain, "metactrl_problem": "(define (problem x) (:domain d) (:goal (p)))"}
        good = {"metactrl_task": problems()[0]}
        processor.update_state(BatchUpdate(2, added=[(0, Params(lost), None, []), (1, Params(good), None, [])]))
        with self.assertLogs("metactrl"):
            after = processor.apply(torch.zeros(2, SIZE))
        self.assertEqual(torch.isfinite(after[0]).nonzero().flatten().tolist(), list(ENDS))
        self.assertGreater(int(torch.isfinite(after[1]).sum()), 0)


# --- SGLang


@needs("torch", "PyTorch")
class Sglang(unittest.TestCase):
    def backend(self):
        import metactrl.sglang

        return metactrl.sglang.MetactrlBackend(SlowWithMarker(), SIZE, ENDS)

    def key(self, name, **more):
        return json.dumps({"domain": DOMAIN, "problem": problem_text(name), "horizon": 12, **more})

    def test_answers(self):
        import torch

        draw = random.Random(4)
        backend = self.backend()
        vocabulary = metactrl.Vocabulary.from_tokenizer(SlowWithMarker(), size=SIZE, end_of_turn=ENDS)
        for _ in range(3):
            names = [draw.choice(problems()) for _ in range(5)]
            formats = [draw.choice(("pddl", "json")) for _ in names]
            grammars = [backend.dispatch_ebnf(self.key(name, format=form)).copy() for name, form in zip(names, formats)]
            tokens = [[] for _ in grammars]
            mask = grammars[0].allocate_vocab_mask(SIZE, len(grammars) + 1, "cpu")
            for _ in range(2000):
                if all(grammar.is_terminated() for grammar in grammars):
                    break
                grammars[0].reset_vocab_mask(mask)
                for row, grammar in enumerate(grammars):
                    if draw.random() < 0.2 and tokens[row] and not grammar.is_terminated():  # drafts that are taken back
                        grammar.accept_token(draw.randrange(SIZE))
                        grammar.accept_token(draw.randrange(SIZE))
                        grammar.rollback(2)
                    grammar.fill_vocab_mask(mask, row)
                logits = hostile(len(grammars) + 1, draw)
                free = torch.nan_to_num(logits[-1].clone(), 7.0)
                grammars[0].apply_vocab_mask(logits, grammars[0].move_vocab_mask(mask, "cpu"))
                self.assertTrue(torch.equal(torch.nan_to_num(logits[-1], 7.0), free))
                for row, grammar in enumerate(grammars):
                    if grammar.is_terminated():
                        continue
                    token = pick(logits[row], draw)
                    self.assertEqual(mask[row, token // 32].item() >> (token % 32) & 1, 1)
                    grammar.accept_token(token)
                    tokens[row].append(token)
            for name, form, answer in zip(names, formats, tokens):
                constraint = metactrl.Constraint(task(name), vocabulary, form, horizon=12)
                self.assertTrue(constraint.check(answer), constraint.check(answer).reason)

    def test_weights_are_in_the_mask(self):
        import torch

        grammar = self.backend().dispatch_json(self.key(problems()[0]))
        decoder = grammar._request.fork().decoder
        while len(decoder.next()[0]) < 2:
            run = decoder.forced()
            for token in run:
                grammar.accept_token(token)
            decoder.accept(*run)
        mask = grammar.allocate_vocab_mask(SIZE, 1, "cpu")
        grammar.fill_vocab_mask(mask, 0)
        logits = torch.zeros(1, SIZE + 6)
        grammar.apply_vocab_mask(logits, mask)
        ids, weights = decoder.next()
        self.assertEqual(torch.isfinite(logits[0]).nonzero().flatten().tolist(), ids)
        self.assertTrue(torch.allclose(logits[0, ids], torch.tensor(weights)))

    def test_thinking_first(self):
        import torch

        grammar = self.backend().dispatch_regex(self.key(problems()[0], after="</think>"))
        mask = grammar.allocate_vocab_mask(SIZE, 1, "cpu")
        for token in (65, 66):
            grammar.accept_token(token)
        grammar.fill_vocab_mask(mask, 0)
        logits = torch.zeros(1, SIZE)
        grammar.apply_vocab_mask(logits, mask)
        self.assertTrue(bool((logits == 0).all()))
        grammar.accept_token(283)
        grammar.fill_vocab_mask(mask, 0)
        grammar.apply_vocab_mask(logits, mask)
        self.assertLess(int(torch.isfinite(logits).sum()), 20)
        grammar.rollback(1)
        grammar.fill_vocab_mask(mask, 0)
        logits = torch.zeros(1, SIZE)
        grammar.apply_vocab_mask(logits, mask)
        self.assertTrue(bool((logits == 0).all()))

    def test_what_is_no_request(self):
        backend = self.backend()
        domain = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (q)))"
        infeasible = json.dumps({"domain": domain, "problem": "(define (problem x) (:domain d) (:goal (p)))"})
        for key in ("root ::= x", "[]", "{}", self.key(problems()[0], format="latin"), json.dumps({"domain": "(", "problem": ")"}), infeasible):
            self.assertIsNone(backend.dispatch_ebnf(key))


if __name__ == "__main__":
    unittest.main(verbosity=2)
