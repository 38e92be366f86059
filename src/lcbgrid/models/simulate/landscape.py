"""A prompt landscape: role texts and a problem give a probability, without any model.

Nothing here says anything about real models. It exists so that a search over prompts can be run
thousands of times and judged against the truth, which only a landscape knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lcbgrid.core.hashing import sha256_json
from lcbgrid.models.simulate.chance import chance, count_tokens
from lcbgrid.models.simulate.landscape_build import (
    Chosen,
    Feature,
    Interaction,
    Plan,
    Row,
    best_by_weight,
    draw_plan,
    draw_rows,
    extra_lines,
    generator,
    logistic,
    terms,
)
from lcbgrid.models.simulate.landscape_examples import (
    draw_examples,
    examples_help,
    split_examples,
)
from lcbgrid.models.simulate.landscape_words import (
    KINDS,
    PLACEHOLDER,
    SENTENCES,
    core_sentence,
    task_sentence,
)

SPLITS: Mapping[str, int] = MappingProxyType({"train": 150, "validation": 50, "test": 100})
BROKEN_TEXT = -4.0  # log-odds of a text that lost its placeholder or all its words
MISLEADING = 0.25  # share of feedback that names any kind
CREDIT_NOISE = 0.15
_CACHE_LIMIT = 20_000
_WORDS = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class RolloutCost:
    """What one rollout of a team costs.

    Attributes:
        model_calls: Calls of all members.
        input_tokens: What they read.
        output_tokens: What they write.
    """

    model_calls: int
    input_tokens: int
    output_tokens: int

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class _Bundle:
    """What is known of one set of texts; ``probabilities`` fills by row."""

    chosen: Chosen
    kinds: tuple[float, ...]
    common: float
    probabilities: dict[str, float]


class Landscape:
    """Scores of role texts on made-up problems; made by ``generate``.

    Args:
        seed: Seed of everything.
        roles: Names of the roles, in order.
        plan: Its numbers.
        rows: Problems by name.
        splits: Names of problems by split.
        null: True if no text matters.
        coupling: Share of the (row, request seed) pairs whose draw is the same for all texts.
        team_size: Members of the team; copies of one role count.
    """

    def __init__(
        self,
        seed: int,
        roles: tuple[str, ...],
        plan: Plan,
        rows: Mapping[str, Row],
        splits: Mapping[str, list[str]],
        *,
        null: bool,
        coupling: float,
        team_size: int,
    ) -> None:
        self.seed = seed
        self.roles = roles
        self.null = null
        self.coupling = coupling
        self.team_size = team_size
        self._plan = plan
        self._rows = dict(rows)
        self._splits = {name: list(ids) for name, ids in splits.items()}
        self._patterns = tuple(
            tuple(_plain(feature.text) for feature in of_role) for of_role in plan.features
        )
        self._bundles: dict[tuple[str, ...], _Bundle] = {}
        self._found: dict[tuple[int, str], tuple[int, ...]] = {}
        self._examples = tuple(plan.scale * item for item in draw_examples(seed, roles))

    @classmethod
    def generate(
        cls,
        seed: int,
        roles: Sequence[str],
        *,
        n_features: int = 24,
        null: bool = False,
        coupling: float = 1.0,
        team_size: int | None = None,
        splits: Mapping[str, int] = SPLITS,
    ) -> Landscape:
        """Draw a landscape.

        Args:
            seed: Seed of everything; the rows depend on it alone, so teams share them.
            roles: Names of the roles, all different, in the order in which they work.
            n_features: Sentences that count in the texts of one role, 6 to 48.
            null: Draw one in which no text matters.
            coupling: Share of the (row, request seed) pairs whose draw is the same for all
                texts: 1 gives full common random numbers, 0 none.
            team_size: Members of the team, for the cost; default: one for each role.
            splits: Rows by split.

        Raises:
            ValueError: Roles, sizes or shares that make no landscape.
        """
        if not roles or len(set(roles)) < len(roles) or not all(map(str.strip, roles)):
            raise ValueError("a landscape needs different, non-blank role names")
        if not 6 <= n_features <= len(SENTENCES):
            raise ValueError(f"n_features must be 6 to {len(SENTENCES)}")
        if not 0.0 <= coupling <= 1.0:
            raise ValueError("coupling must be 0 to 1")
        if not splits or min(splits.values()) < 1:
            raise ValueError("each split needs at least one row")
        size = len(roles) if team_size is None else team_size
        if size < len(roles):
            raise ValueError("a team is not smaller than its roles")
        rows, names = draw_rows(seed, splits)
        plan = draw_plan(seed, tuple(roles), n_features, list(rows.values()), null)
        return cls(
            seed, tuple(roles), plan, rows, names, null=null, coupling=coupling, team_size=size
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Landscape) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.seed, self.roles, self.null))

    @property
    def splits(self) -> dict[str, list[str]]:
        """Row IDs by split, in order."""
        return {name: list(ids) for name, ids in self._splits.items()}

    @property
    def features(self) -> dict[str, tuple[Feature, ...]]:
        """The sentences that count, by role, with what they are worth: the truth."""
        return dict(zip(self.roles, self._plan.features, strict=True))

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        """Pairs of sentences that are worth more or less together: the truth."""
        return self._plan.interactions

    @property
    def examples(self) -> dict[str, float]:
        """Log-odds that many worked examples in each role's text are worth: the truth."""
        return dict(zip(self.roles, self._examples, strict=True))

    def level(self, row_id: str) -> str:
        """Return ``easy``, ``medium`` or ``hard``."""
        return self._rows[row_id].level

    def statement(self, row_id: str) -> str:
        """Return a problem statement to show to whoever reflects; it says next to nothing."""
        row = self._rows[row_id]
        return f"Problem {row_id} ({row.level}; statement of about {row.tokens} tokens)."

    def seed_bundle(self) -> dict[str, str]:
        """Return the texts that a search starts from."""
        return self.render(self._plan.seed)

    def render(self, chosen: Chosen) -> dict[str, str]:
        """Return the texts that hold exactly these features (role index, feature index)."""
        texts = {}
        for number, role in enumerate(self.roles):
            held = [
                feature.text
                for index, feature in enumerate(self._plan.features[number])
                if (number, index) in chosen
            ]
            texts[role] = "\n".join([core_sentence(role), task_sentence(), *held])
        return texts

    def chosen(self, texts: Mapping[str, str]) -> Chosen:
        """Return the features that the texts hold."""
        return self._bundle(texts).chosen

    def present(self, role: str, text: str) -> tuple[int, ...]:
        """Return the indices of a role's features that a text holds; case and marks are free."""
        number = self.roles.index(role)
        found = self._found.get((number, text))
        if found is None:
            words = _plain(split_examples(text)[0])
            found = tuple(
                index for index, pattern in enumerate(self._patterns[number]) if pattern in words
            )
            if len(self._found) >= _CACHE_LIMIT:
                self._found.clear()
            self._found[number, text] = found
        return found

    def probability(self, texts: Mapping[str, str], row_id: str) -> float:
        """Return the probability that the team solves the row with these texts.

        Raises:
            ValueError: The texts are not those of the landscape's roles.
            KeyError: No such row.
        """
        bundle = self._bundle(texts)
        known = bundle.probabilities.get(row_id)
        if known is None:
            row = self._rows[row_id]
            logit = self._plan.base + row.effect + bundle.common
            logit += sum(
                weight * need for weight, need in zip(bundle.kinds, row.needs, strict=True)
            )
            known = bundle.probabilities[row_id] = logistic(logit)
        return known

    def draw(self, texts: Mapping[str, str], row_id: str, request_seed: int) -> float:
        """Return the number in [0, 1) that decides; with full coupling no text changes it."""
        if self.coupling < 1.0:
            shared = chance("shared", self.seed, row_id, request_seed) < self.coupling
            if not shared:
                digest = exec_digest(texts)
                return chance("own draw", self.seed, digest, row_id, request_seed)
        return chance("draw", self.seed, row_id, request_seed)

    def outcome(self, texts: Mapping[str, str], row_id: str, request_seed: int) -> bool:
        """Return whether one rollout solves the row; the same arguments, the same outcome."""
        return self.draw(texts, row_id, request_seed) < self.probability(texts, row_id)

    def true_mean(self, texts: Mapping[str, str], split: str) -> float:
        """Return the exact expected score on a split."""
        ids = self._splits[split]
        return sum(self.probability(texts, row_id) for row_id in ids) / len(ids)

    def best_texts(self, split: str = "test") -> dict[str, str]:
        """Return texts at a top of the truth: no sentence more or less is better on the split.

        The climb starts at the best features of an average row. It is a lower bound of the
        optimum, and for judging searches only.
        """
        chosen = best_by_weight(self._plan)
        value, improved = self.true_mean(self.render(chosen), split), not self.null
        while improved:
            improved = False
            for number, features in enumerate(self._plan.features):
                for index in range(len(features)):
                    other = chosen ^ {(number, index)}
                    reached = self.true_mean(self.render(other), split)
                    if reached > value + 1e-12:
                        chosen, value, improved = other, reached, True
        return self.render(chosen)

    def credits(self, texts: Mapping[str, str], row_id: str) -> dict[str, float]:
        """Return a noisy partial credit in [0, 1] of each role on a row.

        It is the share of the role's help for this row that its text holds, less its harm.
        """
        row, chosen = self._rows[row_id], self._bundle(texts).chosen
        digest = exec_digest(texts)
        result = {}
        for number, (role, features) in enumerate(self.features.items()):
            held = possible = 0.0
            for index, feature in enumerate(features):
                worth = feature.weight * row.needs[feature.kind]
                possible += max(0.0, worth)
                held += worth if (number, index) in chosen else 0.0
            share = held / possible if possible else 0.5
            noise = 2.0 * chance("credit", self.seed, digest, row_id, role) - 1.0
            result[role] = round(min(1.0, max(0.0, share + CREDIT_NOISE * noise)), 3)
        return result

    def feedback(self, texts: Mapping[str, str], row_id: str, request_seed: int = 0) -> str:
        """Return what a judge would say of one rollout, in one line.

        Of a failure it names a role and a kind. Three times in four they are drawn by what the
        role's text lacks or does wrong for this row, else at random.
        """
        if self.outcome(texts, row_id, request_seed):
            return f"{row_id}: solved."
        role, kind = self._blamed(texts, row_id, request_seed)
        return f"{row_id}: failed; {KINDS[kind].symptom} (role {role})."

    def cost(self, texts: Mapping[str, str], row_id: str) -> RolloutCost:
        """Return the cost of one rollout: each member reads its text, the problem and the others.

        Members beyond the roles are further copies, which take the roles' texts in turn.
        """
        self._checked(texts)
        row, read, written = self._rows[row_id], 0, 0
        for member in range(self.team_size):
            role = self.roles[member % len(self.roles)]
            read += count_tokens(texts[role]) + row.tokens + written
            written += 120 + row.tokens // 3 + count_tokens(texts[role]) // 4
        return RolloutCost(self.team_size, read, written)

    def _blamed(self, texts: Mapping[str, str], row_id: str, request_seed: int) -> tuple[str, int]:
        rng = generator("feedback", self.seed, exec_digest(texts), row_id, request_seed)
        row, chosen = self._rows[row_id], self._bundle(texts).chosen
        weights: dict[tuple[str, int], float] = {}
        for number, (role, features) in enumerate(self.features.items()):
            for index, feature in enumerate(features):
                held = (number, index) in chosen
                lost = -feature.weight if held else feature.weight
                if lost > 0:
                    key = (role, feature.kind)
                    weights[key] = weights.get(key, 0.0) + lost * row.needs[feature.kind]
        if not weights or rng.random() < MISLEADING:
            return rng.choice(self.roles), rng.randrange(len(KINDS))
        return rng.choices(list(weights), list(weights.values()))[0]

    def _checked(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        if len(texts) != len(self.roles) or not all(role in texts for role in self.roles):
            raise ValueError(f"texts must be those of the roles {', '.join(self.roles)}")
        return tuple([texts[role] for role in self.roles])

    def _bundle(self, texts: Mapping[str, str]) -> _Bundle:
        key = self._checked(texts)
        known = self._bundles.get(key)
        if known is None:
            known = self._read(key)
            if len(self._bundles) >= _CACHE_LIMIT:
                self._bundles.clear()
            self._bundles[key] = known
        return known

    def _read(self, key: tuple[str, ...]) -> _Bundle:
        pairs = list(zip(self.roles, key, strict=True))
        chosen = frozenset(
            (number, index)
            for number, (role, text) in enumerate(pairs)
            for index in self.present(role, text)
        )
        split = [split_examples(text) for text in key]
        told = zip(self.roles, split, strict=True)
        lines = [extra_lines(role, text) for role, (text, _) in told]
        kinds, common = terms(self._plan, chosen, lines)
        for worth, (_, count) in zip(self._examples, split, strict=True):
            common += worth * examples_help(count)
        if not self.null:
            common += BROKEN_TEXT * sum(PLACEHOLDER not in text for text, _ in split)
        return _Bundle(chosen, kinds, common, {})

    def _identity(self) -> tuple[object, ...]:
        options = (self.null, self.coupling, self.team_size)
        return (self.seed, self.roles, self._plan, self._rows, self._splits, *options)


def exec_digest(texts: Mapping[str, str]) -> str:
    """Return a digest of what runs: the role texts, whatever their order."""
    return sha256_json({"roles": dict(texts)})


def _plain(text: str) -> str:
    return " " + " ".join(_WORDS.findall(text.lower())) + " "
