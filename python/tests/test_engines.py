"""The adapters to engines without the engines: a small model of our own with transformers' forward(), and its ways to generate."""

import random
import unittest

from support import Work, byte_vocabulary, metactrl, needs, problems, task

SIZE = 259


def make_model(seed=1, wild=False):
    """One layer of attention with a cache, positions and a mask, as transformers' models have them."""
    import torch

    class Output:
        def __init__(self, logits, past_key_values):
            self.logits, self.past_key_values = logits, past_key_values

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(seed)
            self.words = torch.nn.Embedding(SIZE, 16)
            self.places = torch.nn.Embedding(4096, 16)
            self.query, self.key, self.value = (torch.nn.Linear(16, 16, bias=False) for _ in range(3))
            self.head = torch.nn.Linear(16, SIZE, bias=False)
            self.calls = []

        def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None, use_cache=None, logits_to_keep=0):
            self.calls.append(tuple(input_ids.shape))
            hidden = self.words(input_ids) + self.places(position_ids)
            keys, values = self.key(hidden), self.value(hidden)
            if past_key_values is not None:
                keys, values = (torch.cat([old, new], 1) for old, new in zip(past_key_values, (keys, values)))
            length, total = input_ids.shape[1], keys.shape[1]
            assert attention_mask.shape[1] == total
            causal = torch.arange(total)[None, :] <= torch.arange(total - length, total)[:, None]
            seen = causal[None] & attention_mask[:, None, :].bool()
            weights = (self.query(hidden) @ keys.transpose(1, 2)).masked_fill(~seen, -1e9).softmax(-1)
            logits = self.head(weights @ values + hidden)[:, -logits_to_keep:]
            if wild:
                noise = torch.rand_like(logits)
                logits = logits.masked_fill(noise < 0.3, float("nan")).masked_fill(noise > 0.7, float("inf"))
            return Output(logits, (keys, values))

        @torch.no_grad()
        def generate(self, input_ids, attention_mask=None, logits_processor=(), max_new_tokens=100, eos_token_id=(), pad_token_id=0,
                     do_sample=False, num_beams=1, custom_generate=None):
            class Config:
                pass

            config = Config()
            config.max_new_tokens, config.eos_token_id, config.pad_token_id = max_new_tokens, list(eos_token_id), pad_token_id
            config.do_sample, config.num_beams = do_sample, num_beams
            if custom_generate is not None:
                return custom_generate(self, input_ids, logits_processor=logits_processor, stopping_criteria=[], generation_config=config,
                                       attention_mask=attention_mask, use_cache=True)
            if num_beams > 1:
                return self.beams(input_ids, attention_mask, logits_processor, max_new_tokens, eos_token_id, pad_token_id, num_beams)
            ids, mask = input_ids, torch.ones_like(input_ids) if attention_mask is None else attention_mask
            going = torch.ones(ids.shape[0], dtype=torch.bool)
            for _ in range(max_new_tokens):
                out = self(ids, mask, (mask.cumsum(1) - 1).clamp(min=0), logits_to_keep=1)
                scores = out.logits[:, -1].float()
                for processor in logits_processor:
                    scores = processor(ids, scores)
                token = torch.multinomial(scores.softmax(-1), 1)[:, 0] if do_sample else scores.argmax(-1)
                token = torch.where(going, token, torch.tensor(pad_token_id))
                ids = torch.cat([ids, token[:, None]], 1)
                mask = torch.cat([mask, torch.ones_like(token)[:, None]], 1)
                going &= ~torch.isin(token, torch.tensor(list(eos_token_id)))
                if not going.any():
                    break
            return ids

        def beams(self, input_ids, attention_mask, processors, limit, ends, pad, width):
            """Rows are reordered at every step, and nobody is told."""
            prompts = input_ids.shape[0]
            ids = input_ids.repeat_interleave(width, 0)
            mask = (torch.ones_like(input_ids) if attention_mask is None else attention_mask).repeat_interleave(width, 0)
            running = torch.full((prompts, width), -1e9)
            running[:, 0] = 0
            best = [(-float("inf"), None)] * prompts
            for _ in range(limit):
                out = self(ids, mask, (mask.cumsum(1) - 1).clamp(min=0), logits_to_keep=1)
                scores = torch.log_softmax(out.logits[:, -1].float(), -1)
                for processor in processors:
                    scores = processor(ids, scores)
                total = scores.view(prompts, width, -1) + running[:, :, None]
                top, place = total.view(prompts, -1).topk((1 + len(ends)) * width, 1)
                rows, columns, running = [], [], []
                for prompt in range(prompts):
                    kept = []
                    for score, where in zip(top[prompt].tolist(), place[prompt].tolist()):
                        row, token = prompt * width + where // scores.shape[1], where % scores.shape[1]
                        if token in ends:
                            if score > best[prompt][0]:
                                best[prompt] = (score, torch.cat([ids[row], torch.tensor([token])]))
                        elif len(kept) < width:
                            kept.append((score, row, token))
                    rows += [row for _, row, _ in kept]
                    columns += [token for _, _, token in kept]
                    running.append([score for score, _, _ in kept])
                running = torch.tensor(running)
                ids = torch.cat([ids[rows], torch.tensor(columns)[:, None]], 1)
                mask = torch.cat([mask[rows], torch.ones(len(rows), 1, dtype=torch.long)], 1)
                if all(answer is not None and score >= running[prompt].max() for prompt, (score, answer) in enumerate(best)):
                    break
            longest = max(len(answer) for _, answer in best)
            return torch.stack([torch.cat([answer, torch.full((longest - len(answer),), pad)]) for _, answer in best])

    return Model()


def prompts(*texts):
    """Padded on the left."""
    import torch

    width = max(len(text.encode()) for text in texts)
    rows = [[0] * (width - len(text.encode())) + list(text.encode()) for text in texts]
    masks = [[0] * (width - len(text.encode())) + [1] * len(text.encode()) for text in texts]
    return {"input_ids": torch.tensor(rows), "attention_mask": torch.tensor(masks)}


@needs("torch", "PyTorch")
class Transformers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vocabulary = byte_vocabulary(SIZE)
        cls.constraints = [metactrl.Constraint(task(problem), cls.vocabulary, horizon=12) for problem in problems()[:4]]

    def test_forced_runs_change_no_token(self):
        from metactrl.transformers import generate

        inputs = prompts("Plan:\n")
        slow, quick = make_model(), make_model()
        one = generate(slow, inputs, self.constraints[0], forced_runs=False)[0]
        other = generate(quick, inputs, self.constraints[0])[0]
        self.assertEqual(one.tokens, other.tokens)
        self.assertEqual(len(slow.calls), len(one.tokens))
        self.assertLess(2 * len(quick.calls), len(slow.calls))
        self.assertEqual(other.model_calls, len(quick.calls))

    def test_a_batch_is_its_rows(self):
        from metactrl.transformers import generate

        texts = ["Plan:\n", "Write a plan, please.\n", "P", "Now go on:\n"]
        alone = [generate(make_model(), prompts(text), one)[0].tokens for text, one in zip(texts, self.constraints)]
        for forced_runs in (True, False):
            together = generate(make_model(), prompts(*texts), self.constraints, forced_runs=forced_runs)
            self.assertEqual([plan.tokens for plan in together], alone)

    def test_samples_and_hostile_models(self):
        import torch
        from metactrl.transformers import generate

        texts = ["a\n", "bcdef\n", "Plan:", "x"]
        torch.manual_seed(7)
        made = 0
        for forced_runs in (True, False):
            for wild in (False, True):
                for _ in range(6):
                    plans = generate(make_model(wild=wild), prompts(*texts), self.constraints, forced_runs=forced_runs, do_sample=True)
                    made += sum(plan.valid for plan in plans)
        self.assertEqual(made, 2 * 2 * 6 * 4)

    def test_beams(self):
        from metactrl.transformers import generate

        plans = generate(make_model(), prompts("Plan:\n", "ab\n", "c", "dd"), self.constraints, num_beams=3)
        self.assertEqual([plan.valid for plan in plans], [True] * 4)
        with self.assertRaises(metactrl.ArgumentError):
            generate(make_model(), prompts("a"), self.constraints[0], num_beams=3, do_sample=True)

    def test_rows_that_are_lost(self):
        import torch
        from metactrl.transformers import LogitsProcessor

        ids = torch.tensor([[1, 2], [1, 2]])
        scores = torch.zeros(2, SIZE)
        for beams, finite in ((1, 2), (2, 0)):
            processor = LogitsProcessor(self.constraints[0], num_beams=beams)
            first = processor(ids, scores)
            good = int(first[0].argmax())
            out = processor(torch.cat([ids, torch.tensor([[good], [258]])], 1), scores)
            self.assertGreater(int(torch.isfinite(out[0]).sum()), 0)
            self.assertEqual(int(torch.isfinite(out[1]).sum()), finite)
            self.assertTrue(bool((scores == 0).all()), "the processor changed what it was given")

    def test_a_step_costs_what_is_new(self):
        """Counted, not timed: rows that only grow cost the same at every place, and the loop with forced runs hands each token over a few times in all."""
        import torch
        from metactrl.transformers import LogitsProcessor, generate

        constraint = metactrl.Constraint(task(), self.vocabulary, "json", horizon=12)
        processor, ids, costs = LogitsProcessor(constraint), torch.ones(8, 3, dtype=torch.long), []
        while not bool(torch.isin(ids, torch.tensor([256, 257])).any(1).all()):
            with Work() as work:
                out = processor(ids, torch.zeros(8, SIZE))
            costs.append(work.lines + work.ids)
            ids = torch.cat([ids, out.argmax(1)[:, None]], 1)
        self.assertGreater(len(costs), 150)
        self.assertLess(sorted(costs[-40:])[20], 2 * sorted(costs[10:50])[20], "what a step looks at grows with the answer")
        with Work() as work:
            plans = generate(make_model(), prompts("a\n", "bcdef\n", "Plan:", "x"), constraint)
        written = sum(len(plan.tokens) for plan in plans)
        self.assertLess(work.ids, 5 * written)

    def test_a_processor_serves_one_call_after_the_other(self):
        from metactrl.transformers import LogitsProcessor

        processor = LogitsProcessor(self.constraints[0])
        answers = []
        for text in ("Plan:\n", "Another prompt that is longer than prompt and answer\n" * 9, "Plan:\n"):
            inputs = prompts(text)
            out = make_model().generate(**inputs, logits_processor=[processor], max_new_tokens=4000, eos_token_id=[256, 257], pad_token_id=256)
            tokens = out[0, inputs["input_ids"].shape[1] :].tolist()
            self.assertTrue(self.constraints[0].check(tokens))
            answers.append(tokens)
        self.assertEqual(answers[0], answers[2])

    def test_what_does_not_fit(self):
        import torch
        from metactrl.transformers import ForcedRuns, LogitsProcessor, generate

        processor = LogitsProcessor(self.constraints[0])
        ids = torch.tensor([[1, 2]])
        for wrong in (torch.zeros(1, 5), torch.zeros(SIZE), torch.zeros(1, SIZE, dtype=torch.long), torch.zeros(2, SIZE)):
            with self.assertRaises(metactrl.ArgumentError):
                processor(ids, wrong)
        with self.assertRaises(metactrl.ArgumentError):
            LogitsProcessor([])
        with self.assertRaises(metactrl.ArgumentError):
            LogitsProcessor(self.constraints[:2])(torch.tensor([[1]] * 3), torch.zeros(3, SIZE))
        with self.assertRaises(metactrl.Infeasible):
            LogitsProcessor(metactrl.Constraint(task(), self.vocabulary, horizon=1, fixed_horizon=True))
        with self.assertRaises(metactrl.ArgumentError):
            generate(make_model(), prompts("a"), self.constraints[0], max_new_tokens=3)

        class Beams:
            num_beams = 4

        with self.assertRaises(metactrl.ArgumentError):
            ForcedRuns(processor)(make_model(), ids, generation_config=Beams())
        half = processor(ids, torch.full((1, SIZE), float("nan"), dtype=torch.float16))
        self.assertTrue(bool(torch.isfinite(half).any()))


if __name__ == "__main__":
    random.seed(1)
    unittest.main(verbosity=2)
