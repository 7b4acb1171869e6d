#!/usr/bin/env python3
"""Byte-level BPE as GPT-2 has it, with one token more for every paragraph that prompts never change. Standard library only.

    bpe.py FOLDER [--jobs N] [--vocabulary FILE]

reads FOLDER/train.jsonl and valid.jsonl, writes vocab.json, train.tokens, valid.tokens. --vocabulary takes one that is there. Files
of an earlier run stay as they are until all is done.

The paragraphs (templates.phrases) are "user defined" tokens of the GGUF file: llama.cpp looks for them in a text first, the longest
first, and applies the merges to what is between them. So a benchmark prompt of 12,000 characters costs some hundred tokens, and the
model reads what differs. A prompt whose fixed text was changed is still read, paragraph by paragraph, as ordinary text.

A .tokens file begins with MAGIC and the 32 bytes of Tokenizer.digest(): which vocabulary it was written with. 16-bit little-endian
numbers follow: per example the number of its module in MODULES, the number of prompt tokens, the number of plan tokens (the end token
included), then the tokens themselves.
"""
import array
import collections
import concurrent.futures
import contextlib
import hashlib
import heapq
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support  # noqa: E402
import templates  # noqa: E402

VOCABULARY = 4096
SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
LEARN_FROM = 20000  # examples
FIRST_PHRASE = 0xE000  # the character that stands for the first phrase
MODULES = ["vh-as", "vh-sd", "beh-as", "beh-sd", "wah", "wah-goal", "pddl", "goal"]
PLAIN = 0.1  # of the prompts without a system part reach the model as plain text and not through the chat template
LONGEST = 4096
MAGIC = b"tokens 1"
HEAD = len(MAGIC) + 32  # bytes

# The pre-tokenizer that GGUF files call "gpt-2". Equal to it on ASCII text, which is all there is here: there "letter" and
# "digit" mean the same to both.
PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
WORD = re.compile(r" [a-zA-Z0-9]")
FOLDED = re.compile("([\ue000-\uefff])")


def byte_characters():
    """How GPT-2 writes bytes: printable ones as themselves, the others as characters from 256 on."""
    printable = list(range(ord("!"), ord("~") + 1)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    table, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return table


BYTES = byte_characters()


def spell(piece):
    return tuple(BYTES[byte] for byte in piece.encode())


def join(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return tuple(out)


def fold(text, phrases):
    """Every phrase as one character, the longest first, as llama.cpp looks for them."""
    for i, phrase in enumerate(phrases):
        text = text.replace(phrase, chr(FIRST_PHRASE + i))
    return text


def learn(texts, num_merges):
    """Merges the most frequent pair of neighbours, again and again; ties go to the pair that sorts first. A word or a number is never
    merged with the blank before it: so a name has the same tokens in the prompt, behind a blank, and in the plan, behind a quote, and
    the model can copy it."""
    counts = collections.Counter()
    for text in texts:
        for part in FOLDED.split(text)[::2]:
            counts.update(piece[1:] if WORD.match(piece) else piece for piece in PIECES.findall(part))
    spelled = {piece: spell(piece) for piece in counts}
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for piece, symbols in spelled.items():
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += counts[piece]
            where[pair].add(piece)
    # A heap with entries that may be out of date: one is good if its count is still the pair's.
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(heap)
    merges = []
    while len(merges) < num_merges and heap:
        count, best = heapq.heappop(heap)
        if pairs.get(best, 0) != -count or count == 0:
            continue
        merges.append(best)
        changed = set()
        for piece in where.pop(best):
            for pair in zip(spelled[piece], spelled[piece][1:]):
                pairs[pair] -= counts[piece]
                changed.add(pair)
            spelled[piece] = join(spelled[piece], best)
            for pair in zip(spelled[piece], spelled[piece][1:]):
                pairs[pair] += counts[piece]
                where[pair].add(piece)
                changed.add(pair)
        pairs.pop(best, None)
        for pair in changed:
            if pairs.get(pair, 0) > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
    return merges


class Tokenizer:
    """tokens: bytes first, then one per merge, the phrases, the special ones, and as many without a use as fill the vocabulary."""

    def __init__(self, merges, phrases):
        self.merges = [tuple(merge) for merge in merges]
        self.phrases = phrases
        self.tokens = [BYTES[byte] for byte in range(256)] + ["".join(merge) for merge in self.merges] + phrases + SPECIAL
        self.tokens += [f"<|unused{i}|>" for i in range(VOCABULARY - len(self.tokens))]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.ranks = {merge: rank for rank, merge in enumerate(self.merges)}
        self.first_phrase = 256 + len(self.merges)
        self.cache = {}
        assert len(self.ids) == len(self.tokens)

    @staticmethod
    def load(file):
        try:
            with open(file) as text:
                saved = json.load(text)
            return Tokenizer(saved["merges"], saved["phrases"])
        except OSError as error:
            raise SystemExit(f"{file}: {error.strerror}; bpe.py writes it (`make tokens`)")
        except (ValueError, KeyError, TypeError):
            raise SystemExit(f"{file}: is no vocabulary that bpe.py wrote")

    def digest(self):
        """SHA-256 of what the vocabulary is, however its file is laid out."""
        return hashlib.sha256(json.dumps([self.merges, self.phrases]).encode()).hexdigest()

    def piece(self, piece):
        if piece not in self.cache:
            symbols = spell(piece)
            while len(symbols) > 1:
                best = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
                if best not in self.ranks:
                    break
                symbols = join(symbols, best)
            self.cache[piece] = [self.ids[symbol] for symbol in symbols]
        return self.cache[piece]

    def encode_folded(self, text):
        tokens = []
        for i, part in enumerate(FOLDED.split(text)):
            if i % 2:
                tokens.append(self.first_phrase + ord(part) - FIRST_PHRASE)
            else:
                tokens += [token for piece in PIECES.findall(part) for token in self.piece(piece)]
        return tokens

    def encode(self, text):
        return self.encode_folded(fold(text, self.phrases))

    def special(self, name):
        return self.ids[name]

    def chat(self, role, folded):
        """The chat template: '<|role|>\\n' content '<|end|>\\n'."""
        return [self.special(f"<|{role}|>")] + self.encode_folded("\n" + folded) + [self.special("<|end|>")] + self.encode_folded("\n")

    def example(self, example, rng):
        """(prompt tokens, plan tokens)"""
        if not example["system"] and rng.random() < PLAIN:
            tokens = self.encode_folded(example["prompt"])
        else:
            tokens = []
            if example["system"]:
                tokens += self.chat("system", fold(templates.load(example["system"]), self.phrases))
            tokens += self.chat("user", example["prompt"]) + [self.special("<|assistant|>")] + self.encode_folded("\n")
        return tokens, self.encode_folded(example["plan"]) + [self.special("<|end|>")]


def tokens_of(job):
    """The tokens of some lines, and what is to be said about them: (module, prompt tokens, plan tokens) each."""
    file, name, lines = job
    tokenizer, rng = Tokenizer.load(file), random.Random(name)
    data, lengths = array.array("H"), []
    for line in lines:
        example = json.loads(line)
        prompt, plan = tokenizer.example(example, rng)
        lengths.append((example["module"], len(prompt), len(plan)))
        if len(prompt) + len(plan) > LONGEST:
            continue
        data.extend([MODULES.index(example["module"]), len(prompt), len(plan)])
        data.extend(prompt)
        data.extend(plan)
    if sys.byteorder == "big":
        data.byteswap()
    return data.tobytes(), lengths


def vocabulary_of(files):
    """The digest of the vocabulary that token files were written with: the same for all of them."""
    digests = {}
    for file in files:
        try:
            with open(file, "rb") as data:
                head = data.read(HEAD)
        except OSError as error:
            raise SystemExit(f"{file}: {error.strerror}; bpe.py writes it (`make tokens`)")
        if len(head) < HEAD or not head.startswith(MAGIC):
            raise SystemExit(f"{file}: does not say which vocabulary it was written with; write it again with bpe.py (`make tokens`)")
        digests.setdefault(head[len(MAGIC):].hex(), file)
    if len(digests) > 1:
        first, second = list(digests.values())[:2]
        raise SystemExit(f"{first} and {second} were written with different vocabularies; write them again with one (bpe.py --vocabulary)")
    return next(iter(digests))


def read_lines(file):
    """The examples of a .jsonl file."""
    try:
        with open(file) as text:
            lines = text.read().splitlines()
    except OSError as error:
        raise SystemExit(f"{file}: {error.strerror}; generate.py writes it (`make generate`)")
    if not lines:
        raise SystemExit(f"{file}: has no examples; write it again with generate.py (`make generate`)")
    for i, line in enumerate(lines):
        if not (line.startswith("{") and line.endswith("}")):
            raise SystemExit(f"{file}:{i + 1}: is no example; write the file again with generate.py (`make generate`)")
    return lines


def say_lengths(name, lengths):
    for module in MODULES:
        prompts = sorted(p for m, p, _ in lengths if m == module)
        plans = sorted(p for m, _, p in lengths if m == module)
        if prompts:
            print(f"{name} {module}: {len(prompts)} examples; tokens of a prompt: median {prompts[len(prompts) // 2]}, most {prompts[-1]}; "
                  f"of a plan: median {plans[len(plans) // 2]}, most {plans[-1]}")
    print(f"{name}: {sum(p + q for _, p, q in lengths)} tokens, {sum(p + q > LONGEST for _, p, q in lengths)} examples are too long")


def learn_from(lines, file):
    some = [json.loads(line) for line in random.Random(0).sample(lines, min(LEARN_FROM, len(lines)))]
    phrases = templates.phrases()
    texts = [e["prompt"] + "\ue000" + e["plan"] for e in some]
    texts += [fold(templates.load(e["system"]), phrases) for e in some[::5] if e["system"]]
    merges = learn(texts, VOCABULARY - 256 - len(SPECIAL) - len(phrases))
    with open(file, "w") as out:
        json.dump({"merges": merges, "phrases": phrases}, out, ensure_ascii=False)
    print(f"{256 + len(merges) + len(phrases) + len(SPECIAL)} tokens, {len(phrases)} of them phrases", flush=True)


def write_tokens(pool, vocabulary, name, lines, file):
    jobs = [(vocabulary, f"{name} {i}", lines[i : i + 2000]) for i in range(0, len(lines), 2000)]
    lengths = []
    with open(file, "wb") as out:
        out.write(MAGIC + bytes.fromhex(Tokenizer.load(vocabulary).digest()))
        for data, some_lengths in pool.map(tokens_of, jobs):
            out.write(data)
            lengths += some_lengths
    say_lengths(name, lengths)


def main():
    parser = support.Parser(__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--jobs", type=support.number(int, 1, 1024), default=os.cpu_count())
    parser.add_argument("--vocabulary", help="vocab.json of an earlier run")
    args = parser.parse_args()
    inside = lambda name: os.path.join(args.folder, name)
    lines = {name: read_lines(inside(name + ".jsonl")) for name in ("train", "valid")}
    with contextlib.ExitStack() as stack:
        vocabulary = args.vocabulary
        if not vocabulary:
            vocabulary, = stack.enter_context(support.replacing(inside("vocab.json")))
            learn_from(lines["train"], vocabulary)
        files = stack.enter_context(support.replacing(*(inside(name + ".tokens") for name in lines)))
        pool = stack.enter_context(concurrent.futures.ProcessPoolExecutor(args.jobs))
        for (name, texts), file in zip(lines.items(), files):
            write_tokens(pool, vocabulary, name, texts, file)


if __name__ == "__main__":
    main()
