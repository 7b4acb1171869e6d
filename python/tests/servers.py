"""What the tests of plug-ins for servers share: requests, logits as no model gives them, and the check of every answer by its tokens alone."""

from support import TABLETOP, metactrl, problems, task
from test_tokenizers import Added, Slow

SIZE = 290
ENDS = (256, 285)
MARKER = 283
DOMAIN = (TABLETOP / "domain.pddl").read_text()
# A task that has no plan.
LOST = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (q)))", "(define (problem x) (:domain d) (:goal (p)))"


def problem_text(name):
    return (TABLETOP / f"{name}.pddl").read_text()


class SlowWithMarker(Slow):
    """Has a special token that ends thinking."""

    def __init__(self):
        super().__init__()
        self.vocabulary["</think>"] = MARKER
        self.added_tokens_decoder[MARKER] = Added("</think>", True)
        self.all_special_ids = [256, MARKER]


def given(draw):
    """What a request asks for: the name of its task, and the members."""
    name = draw.choice(problems())
    wanted = {"format": draw.choice(("pddl", "json")), "guidance": draw.choice(("uniform", "mask")), "horizon": 12}
    if draw.random() < 0.3:
        wanted["after"] = "</think>"
    return name, wanted


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


def allowed(row):
    import torch

    return torch.isfinite(row).nonzero().flatten().tolist()


def same(one, other):
    """Bit for bit, whatever is no number."""
    import torch

    return torch.equal(torch.nan_to_num(one, 7.0), torch.nan_to_num(other, 7.0))


class Answers:
    """What engines write, checked when it has ended."""

    def __init__(self, case, context=""):
        self.case, self.context, self.made = case, context, 0
        self.vocabulary = metactrl.Vocabulary.from_tokenizer(SlowWithMarker(), size=SIZE, end_of_turn=ENDS)
        self.constraints = {}

    def constraint(self, name, form):
        if (name, form) not in self.constraints:
            self.constraints[name, form] = metactrl.Constraint(task(name), self.vocabulary, form, context=self.context, horizon=12)
        return self.constraints[name, form]

    def check(self, name, wanted, tokens):
        if "after" in wanted:
            tokens = tokens[tokens.index(MARKER) + 1 :]
        answer = self.constraint(name, wanted["format"]).check(tokens)
        self.case.assertTrue(answer, answer.reason + answer.text)
        self.case.assertTrue(task(name).validate(answer.text, wanted["format"]))
        self.made += 1

    def check_failed(self, tokens, reason):
        """An answer that says why there is no plan, and ends."""
        self.case.assertIn(tokens[-1], ENDS)
        text = self.vocabulary.decode(tokens[:-1]).decode()
        self.case.assertRegex(text, "^metactrl: no plan: .*" + reason)
