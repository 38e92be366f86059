"""The reflection model of a landscape: it edits role texts, sometimes well and sometimes badly."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from lcbgrid.core.hashing import sha256_text
from lcbgrid.models.simulate.chance import count_tokens
from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.models.simulate.landscape_build import Feature, generator
from lcbgrid.models.simulate.landscape_request import (
    Request,
    asked_for,
    follows_earlier,
    read_request,
)
from lcbgrid.models.simulate.landscape_words import (
    KINDS,
    PLACEHOLDER,
    core_sentence,
    task_sentence,
)

QUALITY = 0.75
MALFORMED = 0.06
ENDS = 0.35  # share of follow-ups on a data set that say nothing is left
_MISHAPS = ("empty", "lost placeholder", "no fence", "cut off")
_SHORT = re.compile(r"\b(?:concise|brief|shorter|short and)\b", re.IGNORECASE)
_DETAILED = re.compile(r"\b(?:detailed|thorough|specific|descriptive)\b", re.IGNORECASE)
_CREATIVE = re.compile(r"\b(?:creative|unusual|inventive)\b", re.IGNORECASE)
_END_WORD = re.compile(r"\bCOMPLETE\b")


@dataclass(frozen=True, slots=True)
class Tip:
    """How a request wants the new text.

    Attributes:
        most: Most sentences to add.
        drop: Chance that a sentence goes.
        care: Factor of the model's quality.
    """

    most: int = 3
    drop: float = 0.3
    care: float = 1.0


class ReflectionModel:
    """Answers requests of optimizers as a middling model might; no model is behind it.

    Args:
        landscape: Whose texts it edits. It knows the truth, and uses it as far as its quality
            goes.
        seed: Seed of its own.
        quality: 0: edits are blind; 1: it follows feedback and judges sentences without error.
        malformed: Share of replies for a text that are empty, without fence, cut off, or
            without the placeholder.
    """

    def __init__(
        self,
        landscape: Landscape,
        seed: int = 0,
        *,
        quality: float = QUALITY,
        malformed: float = MALFORMED,
    ) -> None:
        if not (0.0 <= quality <= 1.0 and 0.0 <= malformed <= 1.0):
            raise ValueError("quality and malformed must be 0 to 1")
        self.landscape = landscape
        self.seed = seed
        self.quality = quality
        self.malformed = malformed

    def reply(self, prompt: str, request_seed: int) -> str:
        """Return the answer to a prompt; the same prompt and seed get the same answer."""
        digest = sha256_text(prompt)
        rng = generator("reflect", self.landscape.seed, self.seed, digest, request_seed)
        wanted = asked_for(prompt)
        if wanted == "observations":
            return self._observations(prompt, rng)
        if wanted == "summary":
            return self._summary(rng)
        if wanted == "description":
            return self._description(prompt)
        request = read_request(prompt, self.landscape.roles)
        text = self._improved(request, _tip(prompt), rng)
        if rng.random() < self.malformed:
            return _spoiled(rng.choice(_MISHAPS), text, request.marks)
        opening = rng.choice(("Here is the new text.", "I changed what the cases point to.", ""))
        return f"{opening}\n\n{_wrapped(text, request.marks)}".lstrip("\n")

    def cost(self, prompt: str, reply: str) -> tuple[int, int]:
        """Return the input and output tokens of a call."""
        return count_tokens(prompt), count_tokens(reply)

    def _improved(self, request: Request, tip: Tip, rng: random.Random) -> str:
        role = request.role
        text = request.text or f"{core_sentence(role)}\n{task_sentence()}"
        if rng.random() < tip.drop:
            text = self._with_one_less(role, text, tip, rng)
        for _ in range(rng.randint(1, tip.most)):
            feature = self._proposed(role, text, request.kinds, tip, rng)
            if feature is not None:
                text = f"{text.rstrip()}\n{feature.text}"
        return text

    def _proposed(
        self, role: str, text: str, kinds: dict[int, int], tip: Tip, rng: random.Random
    ) -> Feature | None:
        """Return a sentence to add.

        With feedback it mostly looks among the sentences of a kind that was named, and there
        picks one that helps, if there is one, as often as its quality says; without feedback
        it manages that half as often.
        """
        held = set(self.landscape.present(role, text))
        features = self.landscape.features[role]
        missing = [feature for index, feature in enumerate(features) if index not in held]
        if not missing:
            return None
        care = self.quality * tip.care
        named = [kind for kind in kinds if any(feature.kind == kind for feature in missing)]
        if named and rng.random() < 0.4 + 0.6 * care:
            kind = rng.choices(named, [kinds[kind] for kind in named])[0]
            missing = [feature for feature in missing if feature.kind == kind]
        else:
            care /= 2
        helpful = [feature for feature in missing if feature.weight > 0]
        if helpful and rng.random() < care:
            return rng.choices(helpful, [feature.weight for feature in helpful])[0]
        return rng.choice(missing)

    def _with_one_less(self, role: str, text: str, tip: Tip, rng: random.Random) -> str:
        features = self.landscape.features[role]
        held = [features[index] for index in self.landscape.present(role, text)]
        poor = [feature for feature in held if feature.weight <= 0]
        if not held:
            return text
        victim = rng.choice(poor if poor and rng.random() < self.quality * tip.care else held)
        pattern = r"\W+".join(map(re.escape, re.findall(r"\w+", victim.text)))
        gone = re.sub(rf"[ \t]*\b{pattern}\b[.!]?", "", text, count=1, flags=re.IGNORECASE)
        return re.sub(r"\n[ \t\-*]*(?=\n|$)", "", gone)

    def _observations(self, prompt: str, rng: random.Random) -> str:
        if follows_earlier(prompt) and rng.random() < ENDS:
            return "COMPLETE" if _END_WORD.search(prompt) else "Nothing is left to add."
        seen = rng.sample(KINDS, 2)
        return (
            "The problems ask for short programs on lists, graphs and numbers, with examples. "
            f"Failures to expect: {seen[0].name} and {seen[1].name}."
        )

    def _summary(self, rng: random.Random) -> str:
        return (
            "The data set holds programming problems of three levels with examples and limits. "
            f"A solution is right or wrong as a whole, and {rng.choice(KINDS).name} often decides."
        )

    def _description(self, prompt: str) -> str:
        roles = self.landscape.roles
        named = [role for role in roles if re.search(rf"\b{re.escape(role)}\b", prompt)]
        if len(named) == 1:
            return f"The {named[0]} reads the problem and does its part of the team's solution."
        return f"A team of {', '.join(roles)} solves a programming problem and hands in a program."


def _tip(prompt: str) -> Tip:
    """Return what the last lines ask for; tips stand there."""
    last = prompt[-800:]
    if _SHORT.search(last):
        return Tip(most=1, drop=0.7)
    if _CREATIVE.search(last):
        return Tip(most=4, care=0.7)
    return Tip(most=4, drop=0.15) if _DETAILED.search(last) else Tip()


def _wrapped(text: str, marks: tuple[str, str] | None) -> str:
    first, last = marks or ("```", "```")
    return f"{first}\n{text}\n{last}"


def _spoiled(mishap: str, text: str, marks: tuple[str, str] | None) -> str:
    if mishap == "empty":
        return ""
    if mishap == "lost placeholder":
        return _wrapped(text.replace(PLACEHOLDER, "as given"), marks)
    if mishap == "cut off":
        return _wrapped(text, marks)[: 4 + len(text) // 2]
    return text
