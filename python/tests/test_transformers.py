"""With the real library: models of real shapes with random weights, tokenizers that are made here. Needs torch, transformers and tokenizers.

    cmake -S . -B build/c -DMETACTRL_CLI=OFF -DMETACTRL_LLAMA=OFF -DCMAKE_BUILD_TYPE=Release && cmake --build build/c -j --target metactrl_component_c
    METACTRL_LIBRARY=build/c/libmetactrl_c.so python3 python/tests/test_transformers.py

On a GPU where there is one. METACTRL_TEST_PLANS says how many plans of each kind are compared with the tokenizer (default 80, which is more than two thousand in all).
"""

import os
import random
import time
import unittest

from support import byte_vocabulary, metactrl, needs, plan_model, problems, task, token_model

PLANS = int(os.environ.get("METACTRL_TEST_PLANS", "80"))


def wrapped(tokenizer):
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>")
    made.padding_side = "left"
    return made


def model_of(kind, size, layers=2, width=64):
    """A model of this family with random weights; its output layer is wider than the vocabulary."""
    import torch
    import transformers

    torch.manual_seed(11)
    common = {"vocab_size": size + 13, "pad_token_id": 0, "bos_token_id": None, "eos_token_id": 0}
    if kind == "gpt2":
        config = transformers.GPT2Config(n_layer=layers, n_embd=width, n_head=4, n_positions=4096, **common)
        made = transformers.GPT2LMHeadModel(config)
    else:
        family = {"llama": "Llama", "qwen2": "Qwen2", "mistral": "Mistral"}[kind]
        config = getattr(transformers, f"{family}Config")(
            hidden_size=width, intermediate_size=2 * width, num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=4096, **common)
        made = getattr(transformers, f"{family}ForCausalLM")(config)
    return made.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def tokenizer_kinds():
    import test_tokenizers

    return {
        "byte-level": test_tokenizers.byte_level,
        "as Llama 3": test_tokenizers.llama3_like,
        "as Llama 2": test_tokenizers.sentence_piece,
    }


@needs("tokenizers", "tokenizers")
@needs("transformers", "transformers")
@needs("torch", "PyTorch")
class RealTransformers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tokenizers = {name: wrapped(make()) for name, make in tokenizer_kinds().items()}

    def set_up(self, name, kind, count=4, format="pddl", texts=None, hmm=None):
        tokenizer = self.tokenizers[name]
        model = model_of(kind, len(tokenizer))
        vocabulary = metactrl.Vocabulary.from_tokenizer(tokenizer, model=model)
        self.assertEqual(vocabulary.size, len(tokenizer) + 13)
        texts = texts or ["Plan:\n", "Write down a plan, please.\nPlan:\n", "Go:\n", "Put the mug into the dishwasher. Plan:\n"][:count]
        constraints = [
            metactrl.Constraint(task(problem), vocabulary, format, context=text, horizon=12, hmm=hmm) for problem, text in zip(problems(), texts)
        ]
        inputs = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(model.device)
        return tokenizer, model, constraints, {key: inputs[key] for key in ("input_ids", "attention_mask")}

    def check(self, tokenizer, plans, constraints):
        for plan, constraint in zip(plans, constraints):
            self.assertTrue(plan.valid)
            self.assertTrue(constraint.task.validate(plan.text, constraint.format))
            self.assertEqual(tokenizer.decode(plan.tokens[:-1], clean_up_tokenization_spaces=False).strip(), plan.text.strip())

    def test_forced_runs_change_no_token(self):
        from metactrl.transformers import generate

        for name in self.tokenizers:
            for kind in ("llama", "gpt2", "qwen2", "mistral"):
                with self.subTest(tokenizer=name, model=kind):
                    tokenizer, model, constraints, inputs = self.set_up(name, kind)
                    model.float()
                    slow = generate(model, inputs, constraints, forced_runs=False)
                    quick = generate(model, inputs, constraints)
                    self.check(tokenizer, slow, constraints)
                    self.assertEqual([plan.tokens for plan in quick], [plan.tokens for plan in slow])
                    self.assertLess(quick[0].model_calls, max(len(plan.tokens) for plan in slow))
                    for row, constraint in enumerate(constraints):
                        alone = {key: value[row : row + 1, -int(inputs["attention_mask"][row].sum()) :] for key, value in inputs.items()}
                        self.assertEqual(generate(model, alone, constraint)[0].tokens, slow[row].tokens)

    def test_the_answer_is_the_same_as_the_generic_loop(self):
        import torch

        tokenizer, model, constraints, inputs = self.set_up("byte-level", "llama", count=1)
        prompt = inputs["input_ids"]

        @torch.no_grad()
        def logits(tokens):
            ids = torch.cat([prompt, torch.tensor([tokens], dtype=torch.long, device=prompt.device)], 1)
            return model(ids).logits[0, -1]

        from metactrl.transformers import generate

        plan = metactrl.plan(constraints[0], logits)
        self.assertEqual(plan.tokens, generate(model, inputs, constraints[0])[0].tokens)

    def test_samples(self):
        import torch
        from metactrl.transformers import generate

        torch.manual_seed(3)
        for name in self.tokenizers:
            tokenizer, model, constraints, inputs = self.set_up(name, "llama", format="json")
            for forced_runs in (True, False):
                for options in ({}, {"temperature": 0.3}, {"top_k": 1}, {"top_p": 0.1}, {"temperature": 3.0, "top_p": 0.9}):
                    plans = generate(model, inputs, constraints, forced_runs=forced_runs, do_sample=True, **options)
                    self.check(tokenizer, plans, constraints)

    def test_beams(self):
        from metactrl.transformers import generate

        for name in self.tokenizers:
            tokenizer, model, constraints, inputs = self.set_up(name, "llama")
            self.check(tokenizer, generate(model, inputs, constraints, num_beams=4), constraints)

    def test_the_processor_as_users_give_it(self):
        from metactrl.transformers import LogitsProcessor

        tokenizer, model, constraints, inputs = self.set_up("byte-level", "llama", count=2)
        for options in ({}, {"do_sample": True}, {"repetition_penalty": 1.5}, {"num_beams": 3}, {"output_logits": True, "return_dict_in_generate": True}):
            processor = LogitsProcessor(constraints, num_beams=options.get("num_beams", 1))
            out = model.generate(**inputs, logits_processor=[processor], max_new_tokens=max(one.max_tokens for one in constraints), **options)
            sequences = out.sequences if hasattr(out, "sequences") else out
            for row, constraint in enumerate(constraints):
                answer = processor.turn_of(row, len(constraints), sequences[row, inputs["input_ids"].shape[1] :].tolist())
                self.assertTrue(constraint.check(answer), constraint.check(answer).reason)

    def test_hostile_weights(self):
        """A model whose logits are NaN and infinite."""
        import torch
        from metactrl.transformers import generate

        tokenizer, model, constraints, inputs = self.set_up("byte-level", "llama")
        with torch.no_grad():
            head = model.get_output_embeddings().weight
            head[::3] = float("nan")
            head[1::3] = float("inf")
        for options in ({}, {"do_sample": True}):
            for forced_runs in (True, False):
                self.check(tokenizer, generate(model, inputs, constraints, forced_runs=forced_runs, **options), constraints)

    def test_trained_guidance(self):
        """Weights of a model of plans; they rank, and change nothing of what is promised."""
        from metactrl.transformers import generate

        differ = 0
        for name in self.tokenizers:
            for kind in ("llama", "gpt2"):
                with self.subTest(tokenizer=name, model=kind):
                    tokenizer, model, constraints, inputs = self.set_up(name, kind, hmm=plan_model())
                    model.float()
                    slow = generate(model, inputs, constraints, guidance="trained", forced_runs=False)
                    quick = generate(model, inputs, constraints, guidance="trained")
                    self.check(tokenizer, quick, constraints)
                    self.assertEqual([plan.tokens for plan in quick], [plan.tokens for plan in slow])
                    masked = generate(model, inputs, constraints, guidance="mask")
                    differ += [plan.tokens for plan in quick] != [plan.tokens for plan in masked]
                    self.check(tokenizer, generate(model, inputs, constraints, guidance="trained", do_sample=True), constraints)
                    self.check(tokenizer, generate(model, inputs, constraints, guidance="trained", num_beams=3), constraints)
        self.assertGreater(differ, 0)

    def test_a_trained_model_of_tokens(self):
        """The vocabulary is that of the stored model: bytes."""
        import torch
        from metactrl.transformers import generate

        vocabulary = byte_vocabulary()
        model = model_of("llama", vocabulary.size - 13).float()
        text = "Plan:\n"
        constraint = metactrl.Constraint(task(), vocabulary, context=text, horizon=12, hmm=plan_model())
        ids = torch.tensor([list(text.encode())], device=model.device)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        trained = {"guidance": "trained", "bridge": "hmm", "token_hmm": token_model()}
        answers = [generate(model, inputs, constraint, forced_runs=forced_runs, **trained)[0] for forced_runs in (True, False)]
        self.assertEqual(answers[0].tokens, answers[1].tokens)
        with torch.no_grad():
            model.get_output_embeddings().weight[::2] = float("nan")
        answers += generate(model, inputs, constraint, do_sample=True, **trained)
        for plan in answers:
            self.assertTrue(plan.valid)
            self.assertTrue(constraint.task.validate(plan.text, constraint.format))

    def test_plan(self):
        from metactrl.transformers import plan

        tokenizer = self.tokenizers["byte-level"]
        model = model_of("llama", len(tokenizer))
        for problem in problems():
            made = plan(model, tokenizer, task(problem), instruction="Tidy up.", horizon=14)
            self.assertTrue(made.valid)
        tokenizer.chat_template = "{% for m in messages %}<|start|>{{ m.content }}<|end|>{% endfor %}<|start|>"
        try:
            self.assertTrue(plan(model, tokenizer, task(), horizon=14).valid)
        finally:
            tokenizer.chat_template = None

    def test_tokens_are_the_tokenizers_own(self):
        """For thousands of plans."""
        compared = 0
        for name, tokenizer in self.tokenizers.items():
            vocabulary = metactrl.Vocabulary.from_tokenizer(tokenizer)
            context = "Put everything away.\nPlan:\n"
            before = tokenizer.encode(context, add_special_tokens=False)
            for format in ("pddl", "json", "sentences"):
                for problem in problems():
                    constraint = metactrl.Constraint(task(problem), vocabulary, format, context=context, horizon=14)
                    for seed in range(PLANS):
                        draw = random.Random(seed)
                        row = [draw.uniform(-4, 4) for _ in range(vocabulary.size)]
                        made = metactrl.plan(constraint, lambda tokens: row, temperature=1, seed=seed)
                        whole = tokenizer.encode(context + made.text, add_special_tokens=False)
                        if whole[: len(before)] == before:
                            self.assertEqual(whole[len(before) :], made.tokens[:-1], f"{name}: {made.text!r}")
                            compared += 1
        print(f"{compared} plans compared", end=" ")
        self.assertGreater(compared, 25 * PLANS)

    def test_speed(self):
        """Says what forced runs are worth; fails only if they take more passes."""
        import torch
        from metactrl.transformers import generate

        tokenizer = self.tokenizers["byte-level"]
        model = model_of("llama", len(tokenizer), layers=16, width=1024 if torch.cuda.is_available() else 64)
        vocabulary = metactrl.Vocabulary.from_tokenizer(tokenizer, model=model)
        constraint = metactrl.Constraint(task(), vocabulary, context="Plan:\n", horizon=12)
        inputs = tokenizer(["Plan:\n"], return_tensors="pt", add_special_tokens=False).to(model.device)
        given = {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"]}
        seconds = {}
        for forced_runs in (True, False):
            plans = generate(model, given, constraint, forced_runs=forced_runs)
            begin = time.perf_counter()
            for _ in range(5):
                plans = generate(model, given, constraint, forced_runs=forced_runs)
            seconds[forced_runs] = (time.perf_counter() - begin) / 5, plans[0].model_calls, len(plans[0].tokens)
        begin = time.perf_counter()
        with torch.no_grad():
            for _ in range(5):
                model.generate(**given, min_new_tokens=seconds[True][2], max_new_tokens=seconds[True][2], do_sample=False, pad_token_id=0)
        free = (time.perf_counter() - begin) / 5
        print(f"forced runs {seconds[True]}, processor alone {seconds[False]}, unconstrained {free:.4f} s", end=" ")
        self.assertLess(seconds[True][1], seconds[False][1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
