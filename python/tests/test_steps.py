"""What an engine's step costs and where it leaves every row: rows are where their tokens say, however they came there, and a step looks at what is new."""

import random
import unittest

from support import LAMPS, Work, byte_vocabulary, lamps, metactrl
from metactrl.answers import Answer, send
from metactrl.engine import Requests, Rows

END, MARKER = 256, "</think>"


def many_lamps(count):
    """A task whose plan switches the power on and presses every lamp."""
    names = [f"lamp{number}" for number in range(count)]
    goal = " ".join(f"(lit {name})" for name in names)
    return f"(define (problem p) (:domain lamps) (:objects {' '.join(names)} - lamp) (:init) (:goal (and {goal})))"


class Moves(unittest.TestCase):
    def test_an_answer(self):
        """Against a list that is looked at from the beginning."""
        draw = random.Random(1)
        for _ in range(200):
            answer, plain = Answer({7, 8}), []
            for _ in range(20):
                kind = draw.randrange(3)
                if kind == 0:
                    new = [draw.randrange(9) for _ in range(draw.randrange(4))]
                    answer.write(new)
                    plain += new
                elif kind == 1:
                    length = draw.randrange(len(plain) + 1)
                    answer.cut(length)
                    del plain[length:]
                else:
                    plain = plain[: draw.randrange(len(plain) + 1)] + [draw.randrange(9) for _ in range(draw.randrange(3))]
                    answer.become(plain)
                end = next((place + 1 for place, token in enumerate(plain) if token in (7, 8)), None)
                self.assertEqual((answer.tokens, len(answer), answer.ended), (plain, end or len(plain), end is not None))
                kept, new = answer.news()
                self.assertEqual(plain[:kept] + new, plain[: len(answer)])
                answer.told = draw.choice((kept, len(answer)))

    def test_rows_are_where_their_tokens_say(self):
        """Batch.move sends decoders where Batch.seek does, with tokens that may not come and places that are none in between."""
        draw, batch = random.Random(2), metactrl.Batch(2)
        vocabulary = byte_vocabulary()
        constraints = [metactrl.Constraint(lamps(draw), vocabulary, "json", horizon=12) for _ in range(6)]
        constraints = [one for one in constraints if one.verdict == "solvable"]
        moved = [metactrl.Decoder(one) for one in constraints]
        sought = [metactrl.Decoder(one) for one in constraints]
        answers = [Answer(one.ends) for one in constraints]
        listed, lost = [one.next() for one in moved], 0
        for _ in range(400):
            for answer, (ids, _) in zip(answers, listed):
                if not ids or draw.random() < 0.1:
                    answer.cut(draw.randrange(len(answer.tokens) + 1))
                elif draw.random() < 0.9:
                    answer.write([draw.choice(ids)] if draw.random() < 0.95 else [draw.randrange(259)])
            fits = send(batch, moved, answers)
            self.assertEqual(fits, batch.seek(sought, [answer.tokens[: len(answer)] for answer in answers]))
            listed = batch.next(moved)
            self.assertEqual(listed, batch.next(sought))
            self.assertEqual([one.lost for one in moved], [not fit for fit in fits])
            lost += fits.count(False)
        self.assertGreater(lost, 20)

    def test_moves_that_cannot_be(self):
        batch, decoder = metactrl.Batch(1), metactrl.Decoder(metactrl.Constraint(lamps(random.Random(3)), byte_vocabulary()))
        self.assertEqual(batch.move([decoder, None], [(1, []), (0, [])]), [0, 0])
        self.assertTrue(decoder.lost)
        self.assertEqual(batch.move([decoder], [(0, [])]), [0])
        self.assertFalse(decoder.lost)
        for wrong in ([(-1, [])], [(0.5, [])], [(0, ["a"])], [(0, [2**40])], []):
            with self.assertRaises(metactrl.ArgumentError):
                batch.move([decoder], wrong)


class Steps(unittest.TestCase):
    def requests(self, vocabulary, count, draw, lamps_of):
        made = Requests(vocabulary)
        given = []
        for _ in range(count):
            wanted = {"domain": LAMPS, "problem": many_lamps(lamps_of), "format": draw.choice(("pddl", "json"))}
            if draw.random() < 0.5:
                wanted["after"] = MARKER
            given.append(wanted)
        return made, given

    def test_however_they_came_there(self):
        """Rows in any order, thinking and planning, taken back, with drafts, with tokens that may not come: each lists what a request lists that is told
        its tokens at once. Half of them are engines' own lists, which are followed."""
        draw = random.Random(4)
        made, given = self.requests(byte_vocabulary(), 8, draw, 3)
        live = [made.request(wanted) for wanted in given]
        own = [[] for _ in live]  # what each has written
        rows, other, compared, failed, drafted = Rows(metactrl.Batch(2)), Rows(metactrl.Batch(1)), 0, 0, 0
        may = [None] * len(live)
        with self.assertLogs("metactrl", "WARNING"):
            for _ in range(500):
                chosen = draw.sample(range(len(live)), draw.randint(1, len(live)))
                asked = []
                for number in chosen:
                    tokens, request = own[number], live[number]
                    if draw.random() < 0.08:
                        del tokens[draw.randrange(len(tokens) + 1) :]
                    elif may[number] is None:
                        tokens += MARKER.encode() if draw.random() < 0.1 else [draw.choice(b"think</")]
                    elif draw.random() < 0.02:
                        tokens.append(draw.randrange(256))
                    elif END not in tokens:
                        tokens.append(draw.choice(may[number]))
                    if number % 2 == 0:
                        request.follow(tokens)
                    else:
                        common = next((place for place, pair in enumerate(zip(tokens, self.told(request))) if pair[0] != pair[1]), None)
                        request.cut(min(len(tokens), len(request)) if common is None else common)
                        request.write(tokens[len(request) :])
                    self.assertEqual(self.told(request), tokens)
                    asked.append((number, []))
                    while draw.random() < 0.3:
                        drafts = asked[-1][1] + [draw.choice(may[number] or list(b"</think>"))]
                        asked.append((number, drafts))
                answers = rows.next([(live[number], drafts) for number, drafts in asked])
                for (number, drafts), answer in zip(asked, answers):
                    fresh = made.request(given[number])
                    fresh.write(own[number])
                    (expected,) = other.next([(fresh, drafts)])
                    if not drafts:
                        may[number] = None if answer is None else answer[0]
                    if live[number].failed is not None:
                        self.assertTrue(drafts or fresh.failed is not None)
                        failed += 1
                    else:
                        self.assertEqual(answer, expected)
                        compared += 1
                        drafted += bool(drafts)
                    self.assertEqual(self.told(live[number]), own[number])
        self.assertGreater(min(compared, 20 * failed, 3 * drafted), 500)

    @staticmethod
    def told(request):
        return request._thoughts + request.plan.tokens

    def test_a_list_that_is_read_anew(self):
        """It is shorter, or its last known token is another; what both have in common stays."""
        made, (wanted, *_) = self.requests(byte_vocabulary(), 1, random.Random(5), 3)
        request = made.request({**wanted, "after": MARKER})
        for tokens in ("ab", "abc</thi", "abc", "abd</think>(pr", "abd</thunk>", "</think>", "</think", ""):
            request.follow(list(tokens.encode()))
            self.assertEqual(self.told(request), list(tokens.encode()))
            self.assertEqual(request.begun, MARKER in tokens)
            self.assertEqual(bytes(request.plan.tokens).decode(), tokens.partition(MARKER)[2])

    def test_a_step_costs_what_is_new(self):
        """Counted, not timed: at the end of an answer a step looks at no more than at its beginning."""

        class Watched(list):
            """An engine's own list."""

            looked = 0

            def __getitem__(self, where):
                found = super().__getitem__(where)
                Watched.looked += len(found) if isinstance(where, slice) else 1
                return found

            def __iter__(self):
                raise AssertionError("a list was read from its beginning")

            __contains__ = __reversed__ = __iter__

        draw = random.Random(6)
        made, given = self.requests(byte_vocabulary(), 16, draw, 20)
        live = [made.request({**wanted, "format": "json"}) for wanted in given]
        own, rows, costs = [Watched() for _ in live], Rows(metactrl.Batch(1)), []
        for request in live:
            self.assertIsNone(request.failure)
        answers = [None] * len(live)
        for _ in range(2000):
            for request, tokens, answer in zip(live, own, answers):
                if answer is not None:
                    tokens.append(answer[0][0])
                elif not request.begun:
                    tokens.append(list(b"thinking " * 40 + MARKER.encode())[len(tokens)])
            with Work() as work:
                Watched.looked = 0
                for request, tokens in zip(live, own):
                    request.follow(tokens)
                answers = rows.next([(request, ()) for request in live])
            costs.append(work.lines + work.ids + Watched.looked)
            if all(request.plan.ended for request in live):
                break
        self.assertTrue(all(request.plan.ended for request in live))
        self.assertGreater(len(costs), 600)
        first, last = sorted(costs[20:120])[50], sorted(costs[-100:])[50]
        self.assertLess(last, 2 * first, "what a step looks at grows with the answer")
        self.assertLess(max(costs[20:]), 4 * first)


if __name__ == "__main__":
    unittest.main(verbosity=2)
