"""Vocabularies of tokenizers as Hugging Face has them: doubles of the interfaces everywhere, the real library where it is."""

import json
import unittest

from support import metactrl, needs, problems, task

from metactrl.vocabulary import byte_alphabet

# Real tokenizers are trained on this and on the plans of all tasks.
PROSE = "Put the blue mug into the dishwasher, then close it. Plan:\n1. Pick up the red block and stack it!\n" * 3


class Added:
    def __init__(self, content, special, rstrip=False):
        self.content, self.special, self.rstrip = content, special, rstrip


class Slow:
    """A slow tokenizer: byte-level, one token per byte, a blank is glued to the letter behind it."""

    name_or_path = "slow"
    eos_token_id = 256
    all_special_ids = [256]

    def __init__(self):
        alphabet = {byte: letter for letter, byte in byte_alphabet().items()}
        self.vocabulary = {alphabet[byte]: byte for byte in range(256)}
        self.vocabulary["<end>"] = 256
        for letter in "abcdefghijklmnopqrstuvwxyz":
            self.vocabulary[alphabet[32] + letter] = len(self.vocabulary)
        self.added_tokens_decoder = {256: Added("<end>", True, rstrip=True)}
        self.alphabet = alphabet

    def get_vocab(self):
        return dict(self.vocabulary)

    def encode(self, text, add_special_tokens=True, split_special_tokens=False):
        assert not add_special_tokens and split_special_tokens
        ids, data = [], text.encode()
        while data:
            piece = "".join(self.alphabet[byte] for byte in data[:2])
            size = 2 if piece in self.vocabulary and len(piece) == 2 else 1
            ids.append(self.vocabulary[piece[:size]])
            data = data[size:]
        return ids


class Pieces:
    """A slow tokenizer of SentencePiece's kind: blanks are "▁", one is put in front, what has no piece is written in bytes. The longest piece comes
    first, so that blanks and words join."""

    name_or_path = "pieces"
    eos_token_id = 2
    all_special_ids = [0, 1, 2]

    def __init__(self):
        pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
        pieces += ["▁", "▁▁", "▁(", '",▁"', "put", "▁put", "dish", "▁dish", "washer", "dishwasher", "▁the", "▁it", '"▁', ")▁", "white_", "▁white_cup"]
        pieces += [chr(code) for code in range(33, 127)]
        self.vocabulary = {piece: number for number, piece in enumerate(pieces)}
        self.longest = max(map(len, pieces))

    def get_vocab(self):
        return dict(self.vocabulary)

    def encode(self, text, add_special_tokens=True, split_special_tokens=False):
        text, ids = "▁" + text.replace(" ", "▁") if text else "", []
        while text:
            for size in range(min(self.longest, len(text)), 0, -1):
                if text[:size] in self.vocabulary and not text.startswith("<0x"):
                    ids.append(self.vocabulary[text[:size]])
                    text = text[size:]
                    break
            else:
                ids += [self.vocabulary[f"<0x{byte:02X}>"] for byte in text[0].encode()]
                text = text[1:]
        return ids


class Settings:
    eos_token_id = [256, 300]


class Model:
    """As wide as a padded output layer."""

    generation_config = Settings()

    def get_output_embeddings(self):
        class Layer:
            class weight:
                shape = (320, 8)

        return Layer


class Doubles(unittest.TestCase):
    def test_a_slow_tokenizer(self):
        slow = Slow()
        vocabulary = metactrl.Vocabulary.from_tokenizer(slow)
        self.assertEqual(vocabulary.size, 283)
        self.assertEqual(vocabulary.end_of_turn, [256])
        self.assertEqual(vocabulary.encode(" a\n"), slow.encode(" a\n", False, True))
        self.assertEqual(vocabulary.decode(vocabulary.encode("größer <end> x")), "größer <end> x".encode())
        plan = metactrl.plan(task(), lambda tokens: [0.0] * 283, vocabulary, context="<end>  Plan:")
        self.assertTrue(plan)
        self.assertEqual(plan.tokens[:-1], slow.encode(plan.text, False, True))

    def test_a_tokenizer_that_puts_a_blank_in_front(self):
        pieces = Pieces()
        vocabulary = metactrl.Vocabulary.from_tokenizer(pieces)
        for text in ("put it", " the dishwasher", "größer\t\n  x", "(put white_cup)"):
            self.assertEqual(vocabulary.decode(vocabulary.encode(text)), text.encode())
        compared = 0
        with self.assertRaises(metactrl.InputError):  # the blank would have to be a part of the plan's first token
            metactrl.Constraint(task(), vocabulary, "pddl", context="Plan: ")
        for context in ("", "Plan:\n", "</s>Go:"):
            before = pieces.encode(context)
            for format in ("pddl", "json", "sentences"):
                constraint = metactrl.Constraint(task(), vocabulary, format, context=context, horizon=12)
                for seed in range(20):
                    plan = metactrl.plan(constraint, lambda tokens: [0.0] * vocabulary.size, temperature=1, seed=seed)
                    self.assertTrue(plan)
                    whole = pieces.encode(context + plan.text)
                    if context and "<" not in context and whole[: len(before)] == before:
                        self.assertEqual(plan.tokens[:-1], whole[len(before) :])
                        compared += 1
        self.assertGreater(compared, 50)

    def test_the_width_of_the_model(self):
        vocabulary = metactrl.Vocabulary.from_tokenizer(Slow(), model=Model())
        self.assertEqual(vocabulary.size, 320)
        self.assertEqual(vocabulary.end_of_turn, [256, 300])
        self.assertEqual(metactrl.Vocabulary.from_tokenizer(Slow(), size=290, end_of_turn=[256]).size, 290)
        with self.assertRaises(metactrl.InputError):
            metactrl.Vocabulary.from_tokenizer(Slow(), end_of_turn=[900])

    def test_a_tokenizer_that_changes_texts(self):
        class Lower(Slow):
            def encode(self, text, add_special_tokens=True, split_special_tokens=False):
                return super().encode(text.lower(), add_special_tokens, split_special_tokens)

        with self.assertRaises(metactrl.InputError) as caught:
            metactrl.Vocabulary.from_tokenizer(Lower())
        self.assertIn("back", str(caught.exception))


def corpus():
    texts = [PROSE]
    for problem in problems():
        found = task(problem)
        lines = "".join(f"{action}\n" for action in found.search())
        texts += [lines, json.dumps(lines.split("\n")), ". ".join(lines.split("\n"))]
    return texts


def byte_level(add_prefix_space=False):
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, trainers

    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    made.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|start|>"]
    made.train_from_iterator(
        corpus(), trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    )
    return made


def llama3_like():
    """Split by a pattern, digits in threes; whole pieces taken without merging."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, trainers

    pattern = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    made = tokenizers.Tokenizer(models.BPE(ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        corpus(), trainers.BpeTrainer(vocab_size=700, special_tokens=["<|end|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    )
    return made


def sentence_piece():
    """As Llama 2: blanks are "▁", one is put in front, what is unknown is written in bytes."""
    import tokenizers
    from tokenizers import decoders, models, normalizers, trainers

    start = {"<unk>": 0, "<s>": 1, "<|end|>": 2}
    for byte in range(256):
        start[f"<0x{byte:02X}>"] = len(start)
    draft = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    draft.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    # Line by line: a new line is in no piece, so it is written as a byte.
    lines = [line for text in corpus() for line in text.splitlines()]
    draft.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=500, special_tokens=list(start)))
    model = json.loads(draft.to_str())["model"]
    made = tokenizers.Tokenizer(
        models.BPE(vocab=model["vocab"], merges=[tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]],
                   unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    made.normalizer = draft.normalizer
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    made.add_special_tokens(["<unk>", "<s>", "<|end|>"])
    return made


@needs("tokenizers", "tokenizers")
class RealTokenizers(unittest.TestCase):
    def check(self, tokenizer, plans):
        """Plans as the decoder writes them have the tokens that the tokenizer itself gives for prompt and plan."""
        import random

        end = tokenizer.token_to_id("<|end|>")
        vocabulary = metactrl.Vocabulary.from_tokenizer(tokenizer, end_of_turn=[end])
        checked = 0
        for text in corpus():
            self.assertEqual(vocabulary.decode(vocabulary.encode(text)), text.encode())
        for format in ("pddl", "json", "sentences"):
            for problem in problems():
                context = "Write a plan.\nPlan:\n"
                constraint = metactrl.Constraint(task(problem), vocabulary, format, context=context, horizon=16)
                before = tokenizer.encode(context, add_special_tokens=False).ids
                for seed in range(plans):
                    draw = random.Random(seed)
                    logits = [draw.uniform(-3, 3) for _ in range(vocabulary.size)]
                    plan = metactrl.plan(constraint, lambda tokens: logits, temperature=1, seed=seed)
                    self.assertTrue(plan)
                    whole = tokenizer.encode(context + plan.text, add_special_tokens=False).ids
                    if whole[: len(before)] == before:  # no token straddles the border
                        self.assertEqual(plan.tokens[:-1], whole[len(before) :])
                        checked += 1
        self.assertGreater(checked, 0)
        return checked

    def test_thousands_of_plans(self):
        """Byte-level as GPT-2's, the same with a blank in front, as Llama 3's, and SentencePiece's as Llama 2's."""
        compared = {
            "byte-level": self.check(byte_level(), 100),
            "byte-level with a blank in front": self.check(byte_level(add_prefix_space=True), 10),
            "as Llama 3": self.check(llama3_like(), 40),
            "as Llama 2": self.check(sentence_piece(), 100),
        }
        print(f"plans compared: {compared}", end=" ")
        self.assertGreater(min(compared["byte-level"], compared["as Llama 2"]), 1000)
        self.assertGreater(sum(compared.values()), 2000)

    def test_special_tokens_in_a_text_are_text(self):
        vocabulary = metactrl.Vocabulary.from_tokenizer(byte_level(), end_of_turn=[0])
        self.assertEqual(vocabulary.decode(vocabulary.encode("a<|start|>b")), b"a<|start|>b")

    def test_dropout_is_refused(self):
        tokenizer = byte_level()
        tokenizer.model.dropout = 0.5
        with self.assertRaises(metactrl.InputError):
            metactrl.Vocabulary.from_tokenizer(tokenizer, end_of_turn=[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
