"""The plug-in for SGLang in what stands for its server (sglang_double.py): every answer is a plan, drafts or not, and who fails fails alone."""

import importlib.metadata
import json
import pathlib
import random
import sys
import tempfile
import unittest

import sglang_double
from servers import DOMAIN, ENDS, LOST, MARKER, SIZE, Answers, SlowWithMarker, allowed, given, problem_text, same
from sglang_double import Asked, Server
from support import ROOT, metactrl, needs, problems

sys.path.insert(0, str(ROOT / "python" / "backend"))
import metactrl_backend  # noqa: E402


def text(name, **more):
    return json.dumps({"domain": DOMAIN, "problem": problem_text(name), "horizon": 12, **more})


@needs("torch", "PyTorch")
class Sglang(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sglang_double.install()
        import metactrl.sglang

        cls.module = metactrl.sglang

    def backend(self):
        self.module.register()
        self.assertIn("metactrl", sglang_double.CHOICES)
        return sglang_double.REGISTRY["metactrl"](None, SlowWithMarker(), SIZE, set(ENDS))

    def server(self, seed=1):
        draw = random.Random(seed)

        def choose(row, asked, tokens):
            if asked.grammar is None or asked.grammar.finished:
                return draw.randrange(200)
            if asked.thinks and MARKER not in tokens:
                return MARKER if len(tokens) > draw.randrange(12) else draw.randrange(200)
            return draw.choice(allowed(row))

        return Server(self.backend(), draw, choose)

    def asked(self, draw):
        name, wanted = given(draw)
        made = Asked(draw.choice(("ebnf", "json", "regex", "structural_tag")), text(name, **wanted))
        made.name, made.wanted, made.thinks = name, wanted, "after" in wanted
        return made

    def plain(self, body=None):
        """One that does not think; without a body, one without a grammar."""
        made = Asked() if body is None else Asked("ebnf", body)
        made.thinks = False
        return made

    def test_the_wheel_says_where_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            info = pathlib.Path(folder) / "metactrl-0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(metactrl_backend.metadata())
            (info / "entry_points.txt").write_text(metactrl_backend.ENTRY_POINTS)
            (found,) = importlib.metadata.Distribution.at(info).entry_points
        self.assertEqual((found.group, found.name), ("sglang.srt.plugins", "metactrl"))
        self.assertIs(found.load(), self.module.register)

    def test_answers(self):
        server, answers = self.server(), Answers(self)
        free = [self.plain() for _ in range(2)]
        for asked in free:
            server.add(asked)
        waiting = [self.asked(server.draw) for _ in range(18)]
        for _ in range(4000):
            for asked in [one for one in server.running if one.grammar is not None and one.grammar.finished]:
                if server.draw.random() < 0.5:  # rows of requests that have ended stay for a while
                    server.running.remove(asked)
                    answers.check(asked.name, asked.wanted, asked.tokens[: 1 + next(i for i, t in enumerate(asked.tokens) if t in ENDS)])
            while waiting and len(server.running) < 8:
                server.add(waiting.pop())
            if len(server.running) == len(free) and not waiting:
                break
            known = {asked: asked.grammar is not None and asked.grammar.finished for asked in server.running}
            thinking = {asked for asked in server.running if asked.thinks and MARKER not in asked.tokens}
            batch, before, after = server.step()
            for row, asked in enumerate(batch):
                if asked.grammar is None or known[asked] or asked in thinking:
                    self.assertTrue(same(before[row], after[row]))
        self.assertEqual(answers.made, 18)
        self.assertTrue(all(len(asked.tokens) > 50 for asked in free))

    def test_trees_of_drafts(self):
        server, answers = self.server(2), Answers(self)
        draw, right = server.draw, 0
        for _ in range(12):
            asked = self.asked(draw)
            server.add(asked)
            while not asked.grammar.is_terminated():
                tree = [(-1, asked.tokens[-1] if asked.tokens else 0)]
                decoder = metactrl.Decoder(answers.constraint(asked.name, asked.wanted["format"]))
                if asked.thinks:
                    decoder.seek(asked.tokens[asked.tokens.index(MARKER) + 1 :] if MARKER in asked.tokens else [])
                else:
                    decoder.seek(asked.tokens)
                chain = 0
                for token in decoder.forced()[:3] + decoder.next()[0][:2] + [MARKER, draw.randrange(SIZE + 20)]:
                    tree.append((chain, token))
                    chain = draw.choice((chain, len(tree) - 1))
                right += server.verify(asked, tree)
            answers.check(asked.name, asked.wanted, asked.tokens)
            server.running.remove(asked)
        self.assertGreater(right, 30)

    def test_a_row_that_nobody_fills_is_free(self):
        import torch

        grammar = self.backend().dispatch_ebnf(text(problems()[0]))
        mask = grammar.allocate_vocab_mask(SIZE, 3, "cpu")
        self.assertEqual(mask.dtype, torch.int32)
        self.assertTrue(bool((mask == -1).all()))
        grammar.fill_vocab_mask(mask, 1)
        logits = torch.randn(3, SIZE)
        before = logits.clone()
        grammar.apply_vocab_mask(logits, mask)
        self.assertTrue(torch.equal(logits[[0, 2]], before[[0, 2]]))
        self.assertLess(len(allowed(logits[1])), 20)
        packed = [token for token in range(SIZE) if mask[1, token // 32].item() >> (token % 32) & 1]
        self.assertEqual(packed, allowed(logits[1]))
        grammar.reset_vocab_mask(mask)
        self.assertTrue(bool((mask == -1).all()))

    def test_weights_are_in_the_mask(self):
        import torch

        grammar = self.backend().dispatch_json(text(problems()[0]))
        decoder = grammar._request.fork().decoder
        while len(decoder.next()[0]) < 2:
            run = decoder.forced()
            for token in run:
                grammar.accept_token(token)
            decoder.accept(*run)
        ids, weights = decoder.next()
        mask = grammar.allocate_vocab_mask(SIZE, 1, "cpu")
        grammar.fill_vocab_mask(mask, 0)
        logits = torch.zeros(1, SIZE + 6)
        grammar.apply_vocab_mask(logits, mask)
        self.assertEqual(allowed(logits[0]), ids)
        self.assertTrue(torch.allclose(logits[0, ids], torch.tensor(weights)))
        room, self.module._ROOM = self.module._ROOM, 1  # too many for their list: a mask alone
        try:
            mask = grammar.allocate_vocab_mask(SIZE, 1, "cpu")
            grammar.fill_vocab_mask(mask, 0)
            logits = torch.zeros(1, SIZE + 6)
            grammar.apply_vocab_mask(logits, mask)
        finally:
            self.module._ROOM = room
        self.assertEqual(allowed(logits[0]), ids)
        self.assertTrue(bool((logits[0, ids] == 0).all()))

    def test_a_token_that_is_taken_back(self):
        """A marker in a draft is none, and neither is a failure."""
        import torch

        def free():
            mask, logits = grammar.allocate_vocab_mask(SIZE, 1, "cpu"), torch.zeros(1, SIZE)
            grammar.fill_vocab_mask(mask, 0)
            grammar.apply_vocab_mask(logits, mask)
            return len(allowed(logits[0])) == SIZE

        grammar = self.backend().dispatch_regex(text(problems()[0], after="</think>"))
        for token in (65, 66):
            grammar.accept_token(token)
        self.assertTrue(free())
        grammar.accept_token(MARKER)
        self.assertFalse(free())
        grammar.rollback(1)
        grammar.accept_token(67)
        self.assertTrue(free())
        grammar.accept_token(MARKER)
        grammar.accept_token(200)
        with self.assertLogs("metactrl", "WARNING"):
            self.assertFalse(free())
        with self.assertRaises(ValueError):
            grammar.accept_token(65)
        grammar.rollback(1)
        self.assertFalse(free())
        self.assertIsNone(grammar._request.failed)

    def test_who_fails_fails_alone(self):
        server, answers = self.server(3), Answers(self)
        good = self.plain(text(problems()[0], format="json"))
        server.add(good)
        lost = json.dumps({"domain": LOST[0], "problem": LOST[1]})
        half = "\ud800"  # of a character, as JSON can escape it
        wrong = ("root ::= x", "[]", "{}", text(problems()[0], format="latin"), json.dumps({"domain": "(", "problem": ")"}),
                 text(problems()[0], after=half), text(problems()[0], **{half: ""}), lost, "\0")
        for body in wrong + wrong:  # the second time from the cache
            asked = self.plain(body)
            server.add(asked)
            self.assertTrue(asked.aborted)
            asked.aborted.encode()
        self.assertRegex(asked.aborted + server.backend.cache["ebnf", lost].error_message, "goal")
        for _ in range(3):
            server.step()
        other = self.plain(text(problems()[0], format="json"))
        server.add(other)
        broken = self.plain(text(problems()[0]))
        server.add(broken)
        server.accept(broken, [200])  # a token that may not come
        with self.assertLogs("metactrl", "WARNING"):
            for _ in range(2000):
                if good.grammar.finished and other.grammar.finished:
                    break
                server.step()
        self.assertIn("a token that may not come", broken.aborted)
        self.assertLess(len(broken.tokens), 4)
        for asked in (good, other):
            answers.check(problems()[0], {"format": "json"}, asked.tokens[: 1 + next(i for i, t in enumerate(asked.tokens) if t in ENDS)])

    def test_no_draft_is_tried_behind_a_failure(self):
        """What the server does with drafts has no place for exceptions."""
        server = self.server(4)
        asked = self.plain(text(problems()[0]))
        server.add(asked)
        server.accept(asked, [200])
        with self.assertLogs("metactrl", "WARNING"):
            server.verify(asked, [(-1, 200)] + [(0, token) for token in range(SIZE)])
        self.assertIn("a token that may not come", asked.aborted)

    def test_a_request_that_was_retracted_is_known(self):
        """The server asks whether a token was accepted before."""
        grammar = self.backend().dispatch_ebnf(text(problems()[0]))
        self.assertIsNone(grammar.current_token)
        grammar.accept_token(grammar._request.fork().decoder.next()[0][0])
        self.assertIsNotNone(grammar.current_token)
        self.assertIsNone(grammar.copy().current_token)

    def test_what_is_kept_does_not_grow(self):
        backend = self.backend()
        for number in range(3 * backend._requests.most):
            backend.set_cache(("ebnf", str(number)), number)
        self.assertEqual(len(backend.cache), backend._requests.most)
        self.assertIn(("ebnf", str(number)), backend.cache)


if __name__ == "__main__":
    unittest.main(verbosity=2)
