"""The tokens of an answer while an engine writes it. An engine asks at every token what may come next, so nothing here looks twice at a token that it knows: a step
costs what is new, wherever in its answer a row is."""

from __future__ import annotations

from typing import AbstractSet, Iterable, List, Optional, Sequence, Tuple

from .decoding import Batch, Decoder


class Answer:
    """It grows, is taken back, and goes on. `told` is how many of its tokens its decoder is behind."""

    def __init__(self, ends: AbstractSet[int]) -> None:
        self.tokens: List[int] = []  # also those behind its end: engines go on with rows that have ended
        self.told = 0
        self._ends = ends
        self._end: Optional[int] = None  # behind the token that ends its turn

    def __len__(self) -> int:
        """Up to the end of its turn."""
        return len(self.tokens) if self._end is None else self._end

    @property
    def ended(self) -> bool:
        return self._end is not None

    def write(self, tokens: Iterable[int]) -> None:
        for token in tokens:
            self.tokens.append(token)
            if self._end is None and token in self._ends:
                self._end = len(self.tokens)

    def cut(self, length: int) -> None:
        """Takes back all tokens but so many."""
        del self.tokens[length:]
        if self._end is not None and self._end > length:
            self._end = None
        self.told = min(self.told, length)

    def become(self, tokens: Sequence[int]) -> None:
        """For engines that do not say what they have changed: costs what both have in common, and what is new."""
        common = common_length(self.tokens, tokens)
        self.cut(common)
        self.write(tokens[common:])

    def news(self) -> Tuple[int, List[int]]:
        """How many tokens its decoder keeps, and those that it takes behind them."""
        return self.told, self.tokens[self.told : len(self)]


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    for place, (mine, its) in enumerate(zip(one, other)):
        if mine != its:
            return place
    return min(len(one), len(other))


def send(batch: Batch, decoders: Sequence[Decoder], answers: Sequence[Answer]) -> List[bool]:
    """Every decoder behind its answer; False where the answer is none."""
    news = [answer.news() for answer in answers]
    reached = batch.move(decoders, news)
    for answer, place in zip(answers, reached):
        answer.told = place
    return [place == len(answer) for answer, place in zip(answers, reached)]
