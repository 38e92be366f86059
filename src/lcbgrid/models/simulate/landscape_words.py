"""The instructions that a landscape is made of: kinds of failure and sentences of our own.

No sentence holds a brace, a back-tick, a tag, a tool's name or a role's name, so that adding or
dropping one never changes what a role text must keep.
"""

from __future__ import annotations

from typing import NamedTuple

PLACEHOLDER = "{problem}"


class Kind(NamedTuple):
    """A kind of failure.

    Attributes:
        name: Short name.
        symptom: How feedback names it.
    """

    name: str
    symptom: str


class Sentence(NamedTuple):
    """One instruction.

    Attributes:
        kind: Index of the kind of failure that it is about.
        tone: ``sound``, ``idle`` or ``bad``: what a reader would guess. A landscape decides by
            role what it is really worth.
        text: The words.
    """

    kind: int
    tone: str
    text: str


KINDS: tuple[Kind, ...] = (
    Kind("input", "the input was read wrongly"),
    Kind("output", "the output has the wrong form"),
    Kind("edges", "a smallest or largest case fails"),
    Kind("speed", "the time limit was exceeded"),
    Kind("reading", "a condition of the statement was missed"),
    Kind("method", "the chosen method does not fit the problem"),
    Kind("check", "the answer was never tried on an example"),
    Kind("handover", "what was passed on was incomplete"),
    Kind("state", "a value of an earlier case was still in use"),
    Kind("numbers", "a number was spoiled by rounding or by its size"),
)

_SOUND = (
    ("Read the whole input at once and split it at white space.",
     "Count the values that you expect before you use them.",
     "Allow for blank lines and for spaces at the end of a line."),
    ("Print exactly what is asked, in the order that is asked.",
     "Copy the capital letters of words like YES from the statement.",
     "Print nothing that helps only you to follow the run."),
    ("Consider an empty list, a single item and the largest size.",
     "Ask what happens when all items are equal.",
     "Treat the first and the last position with special care."),
    ("Estimate the number of steps for the largest size before you choose.",
     "Replace repeated searches in a list by a set or a table.",
     "Precompute sums that are needed more than once."),
    ("List every condition of the statement in your own words.",
     "Underline words such as at most, distinct and consecutive.",
     "Check whether positions are counted from zero or from one."),
    ("Name two possible methods and say why one of them is right.",
     "Look for a greedy choice only if you can argue that it is safe.",
     "Describe the states and steps before any detail."),
    ("Follow the first example by hand and compare each number.",
     "Make up one small case whose result you know and try it.",
     "If an example disagrees, stop and find the first wrong step."),
    ("Say plainly what is done and what is still open.",
     "Repeat the limits and the format for whoever goes on.",
     "Pass on the failing case itself and not a summary of it."),
    ("Set every variable anew for each case.",
     "Never change a list while you walk through it.",
     "Keep names of counters apart from names of results."),
    ("Use whole numbers wherever a fraction is not required.",
     "Take the remainder after each product and not only at the end.",
     "Compare fractions by cross products and not as decimals."),
)  # fmt: skip

_IDLE = (
    (0, "Welcome the reader with a friendly word."),
    (1, "Prefer short paragraphs to long ones."),
    (4, "Remember that every problem has a solution."),
    (5, "Be creative and think outside the box."),
    (6, "Take pride in careful work."),
    (7, "Write as an expert of many years would write."),
    (8, "Give variables names that please the eye."),
    (9, "Stay calm, this matters a great deal."),
)

_BAD = (
    (0, "Assume that the input is always on one line."),
    (1, "Explain the result in a sentence beside the printed answer."),
    (2, "Leave unusual cases out, they hardly ever occur."),
    (3, "Try all possibilities first, speed can wait."),
    (4, "Skim the statement and start at once."),
    (5, "Use the first method that comes to mind."),
    (6, "Do not spend time on examples."),
    (7, "Keep to one line and leave the details out."),
    (8, "Keep results of earlier cases, they may be useful."),
    (9, "Use decimals for all arithmetic."),
)

SENTENCES: tuple[Sentence, ...] = (
    *(Sentence(kind, "sound", text) for kind, texts in enumerate(_SOUND) for text in texts),
    *(Sentence(kind, "idle", text) for kind, text in _IDLE),
    *(Sentence(kind, "bad", text) for kind, text in _BAD),
)


def core_sentence(role: str) -> str:
    """Return the sentence with which every text of a role starts in its seed bundle."""
    return f"You are the {role} of a team that solves programming problems."


def task_sentence() -> str:
    """Return the sentence that holds what a role text must keep."""
    return f"This is the problem: {PLACEHOLDER}"
