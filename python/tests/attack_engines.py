"""The attack on what engines are given (attack.py --through engines): transformers' processor and loop with a small model of our own, vLLM's two runners and
SGLang's server as their doubles have them. Engines live long and have many requests, some of which are wrong, are given up, or find tokens in their answer that
nobody allowed: these fail alone and say so, all others are plans."""

import logging
import random

import sglang_double
import vllm_double
from servers import DOMAIN, ENDS, MARKER, SIZE, SlowWithMarker, allowed, problem_text
from support import LAMPS, NAN, Wrong, byte_vocabulary, judge, lamps, lamps_text, metactrl, must_refuse, problems, task
from test_engines import SIZE as MODEL_SIZE
from test_engines import make_model, prompts


class Engines:
    def __init__(self, seed):
        import torch

        vllm_double.install()
        sglang_double.install()
        import metactrl.sglang
        import metactrl.transformers
        import metactrl.vllm

        torch.set_num_threads(1)  # tensors are small
        self.torch, self.draw = torch, random.Random(seed)
        torch.manual_seed(seed)
        logging.getLogger("metactrl").setLevel(logging.ERROR)  # failures are looked for in the answers
        self.bytes = byte_vocabulary()
        self.models = [make_model(number, wild=number % 2 == 1) for number in range(4)]
        self.vocabulary = metactrl.Vocabulary.from_tokenizer(SlowWithMarker(), size=SIZE, end_of_turn=ENDS)
        self.runners = [vllm_double.V1(metactrl.vllm.MetactrlLogitsProcessor, self.draw)]
        self.runners.append(vllm_double.V2(metactrl.vllm.MetactrlLogitsProcessor, self.draw, slots=16, drafter=self.drafts))
        for runner in self.runners:
            runner.processor._requests.most = 8  # so that what is kept is soon as much as it may be
        backend = metactrl.sglang.MetactrlBackend(SlowWithMarker(), SIZE, ENDS)
        backend._requests.most = 8
        self.server = sglang_double.Server(backend, self.draw, self.next_token)

    def some(self, watch):
        self.draw.choice((self.generate, self.vllm, self.sglang))(watch)

    # --- transformers

    def generate(self, watch):
        from metactrl.transformers import LogitsProcessor, generate

        draw = self.draw
        model = draw.choice(self.models)
        texts = [draw.choice(("Plan:\n", "Go:\n", "Write down a plan, please.\nPlan:\n")) for _ in range(4)]
        # Without forced runs the model reads everything anew for every token: for short answers.
        forced = draw.random() < 0.7
        tasks = [task(draw.choice(problems())) if forced and draw.random() < 0.3 else lamps(draw) for _ in texts]
        pairs = [
            (text, metactrl.Constraint(found, self.bytes, draw.choice(("pddl", "json", "sentences")), context=text, horizon=12))
            for text, found in zip(texts, tasks)
        ]
        pairs = [(text, constraint) for text, constraint in pairs if constraint.verdict == "solvable"]
        pairs = pairs if forced else pairs[:1]
        if not pairs:
            return
        inputs, constraints = prompts(*(text for text, _ in pairs)), [constraint for _, constraint in pairs]
        guidance = draw.choice(("mask", "uniform"))
        options = draw.choice(({}, {"do_sample": True}, {"num_beams": 2} if not forced and model in self.models[::2] else {}))
        made = generate(model, inputs, constraints, guidance=guidance, forced_runs=forced, **options)
        for plan, constraint in zip(made, constraints):
            watch.count(guidance, *judge(constraint, plan.tokens, plan.text))
        processor, ids, torch = LogitsProcessor(constraints), inputs["input_ids"], self.torch
        rows = ids.shape[0]
        for wrong in (
            torch.zeros(rows, MODEL_SIZE, dtype=torch.long), torch.zeros(rows, MODEL_SIZE - 1), torch.zeros(MODEL_SIZE), torch.zeros(rows + 1, MODEL_SIZE),
            torch.zeros(rows, MODEL_SIZE, dtype=torch.bool), torch.zeros(rows, 1, MODEL_SIZE),
        ):
            must_refuse(lambda: processor(ids, wrong), metactrl.ArgumentError)
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            row = processor(ids, torch.full((rows, MODEL_SIZE), NAN).to(dtype))
            if row.dtype != dtype or not all(allowed(one) for one in row.float()):
                raise Wrong(f"rows of {dtype} leave nothing")
        watch.counts["offences"] += 10

    # --- servers

    def asked(self):
        """What a request wants, and what is to become of it."""
        draw = self.draw
        name = draw.choice(problems()) if draw.random() < 0.2 else ""
        wanted = {"domain": DOMAIN if name else LAMPS, "problem": problem_text(name) if name else lamps_text(draw), "horizon": 12,
                  "format": draw.choice(("pddl", "json")), "guidance": draw.choice(("uniform", "mask"))}
        if draw.random() < 0.2:
            wanted["after"] = "</think>"
        fate = draw.choices(("well", "gone", "wrong", "changed"), (14, 2, 2, 1))[0]
        if fate == "wrong":
            wanted.update(draw.choice(({"domain": "(define"}, {"problem": ""}, {"format": "latin"}, {"guidance": "trained"}, {"surprise": "x"})))
        return wanted, fate

    def choose(self, row, wanted, tokens):
        draw = self.draw
        if "after" in wanted and MARKER not in tokens:
            may = allowed(row)
            if may and (len(may) == 1 or set(may) <= set(ENDS)):
                return may[0]  # it has failed before it thought
            return MARKER if len(tokens) > draw.randrange(10) else draw.randrange(200)
        may = allowed(row)
        if not may:
            raise Wrong("nothing may come")
        return draw.choice(may)

    def next_token(self, row, asked, tokens):
        return 0 if asked.grammar.finished else self.choose(row, asked.wanted, tokens)

    def drafts(self, asked):
        return [self.draw.choice((MARKER, self.draw.randrange(SIZE))) for _ in range(self.draw.randrange(3))]

    def judge(self, wanted, fate, tokens, context, watch):
        """An answer that has ended."""
        end = next((place for place, token in enumerate(tokens) if token in ENDS), None)
        if end is None:
            raise Wrong("an answer has no end")
        tokens = tokens[: end + 1]
        text = self.vocabulary.decode([token for token in tokens[:-1] if 0 <= token < SIZE]).decode("utf-8", "replace")
        if "metactrl: no plan: " in text:
            if fate in ("well", "changed") and "no plan" not in self.verdict(wanted, context):
                raise Wrong(f"refused for no reason: {text!r}")
            watch.counts["said why not"] += 1
            return
        if fate == "was changed" and self.verdict(wanted, context) == "no plan":
            return  # it was saying why not, and could not end
        if fate in ("wrong", "was changed"):
            raise Wrong(f"an answer to a request that {fate}: {text!r}")
        if "after" in wanted:
            tokens = tokens[tokens.index(MARKER) + 1 :]
        constraint = self.constraint(wanted, context)
        watch.count(wanted["guidance"], *judge(constraint, tokens, self.vocabulary.decode(tokens[:-1]).decode()))

    def constraint(self, wanted, context):
        return metactrl.Constraint(
            metactrl.Task(wanted["domain"], wanted["problem"]), self.vocabulary, wanted["format"], context=context, horizon=wanted["horizon"])

    def verdict(self, wanted, context):
        return "a plan" if self.constraint(wanted, context).verdict == "solvable" else "no plan"

    def vllm(self, watch):
        draw = self.draw
        runner = draw.choice(self.runners)
        waiting, running, lives = [], [], {}
        for _ in range(8):
            wanted, fate = self.asked()
            params = vllm_double.Params({f"metactrl_{key}": value for key, value in wanted.items()})
            asked = vllm_double.Asked(params, [1, 2, 3], lambda row, tokens, wanted=wanted: self.choose(row, wanted, tokens))
            lives[asked] = wanted, fate
            waiting.append(asked)
        first = isinstance(runner, vllm_double.V1)
        for _ in range(3000):
            while waiting and len(running) < 5:
                running.append(waiting.pop())
                runner.add(running[-1])
            for asked in list(running):
                wanted, fate = lives[asked]
                if asked.done or (fate == "gone" and draw.random() < 0.1):
                    running.remove(asked)
                    runner.remove(runner.rows.index(asked) if first else next(slot for slot, one in runner.running.items() if one is asked))
                    if asked.done and fate != "gone":
                        self.judge(wanted, fate, asked.tokens, "assistant:\n", watch)
            if not running and not waiting:
                break
            runner.step()
            for asked in running:
                wanted, fate = lives[asked]
                thinks = "after" in wanted and MARKER not in asked.tokens
                if first and fate == "changed" and not thinks and len(asked.tokens) == 3 + 20 * ("after" in wanted):
                    asked.tokens[-1] = runner.sampled[asked] = 200  # nobody allowed it
                    lives[asked] = wanted, "was changed"
        else:
            raise Wrong("answers do not end")
        if first:
            runner.step()  # so that the processor hears of the last ones

    def sglang(self, watch):
        import json

        draw, lives = self.draw, {}
        for _ in range(8):
            wanted, fate = self.asked()
            asked = sglang_double.Asked(draw.choice(("ebnf", "json")), json.dumps(wanted))
            asked.wanted = wanted
            lives[asked] = fate
            self.server.add(asked)
            if asked.aborted is not None:
                if fate != "wrong" and self.verdict(wanted, "") == "a plan":
                    raise Wrong(f"refused for no reason: {asked.aborted}")
                watch.counts["said why not"] += 1
            elif fate == "wrong":
                raise Wrong("took a request that is wrong")
        for _ in range(3000):
            for asked in list(self.server.running):
                fate = lives[asked]
                if asked.grammar.finished or (fate == "gone" and draw.random() < 0.1):
                    self.server.running.remove(asked)
                    if asked.grammar.finished and fate != "gone":
                        self.judge(asked.wanted, fate, asked.tokens, "", watch)
                elif fate == "changed" and len(asked.tokens) > 3 and ("after" not in asked.wanted or MARKER in asked.tokens):
                    self.server.accept(asked, [200])
                    lives[asked] = "was changed"
                elif draw.random() < 0.2:
                    tree = [(-1, asked.tokens[-1] if asked.tokens else 0)]
                    tree += [(draw.randrange(number), draw.randrange(SIZE)) for number in range(1, draw.randint(2, 6))]
                    self.server.verify(asked, tree)
            if not self.server.running:
                break
            self.server.step()
        else:
            raise Wrong("answers do not end")
        for asked, fate in lives.items():
            if fate == "was changed" and asked.aborted is None:
                raise Wrong("took a token that nobody allowed")
            if fate == "well" and asked.aborted is not None and asked.grammar is not None:
                raise Wrong(f"ended for no reason: {asked.aborted}")
