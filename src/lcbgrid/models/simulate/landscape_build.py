"""How a landscape is drawn: features, interactions, rows, and the scale that makes it a task."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul

from lcbgrid.models.simulate.chance import count_tokens
from lcbgrid.models.simulate.landscape_words import (
    KINDS,
    SENTENCES,
    Sentence,
    core_sentence,
    task_sentence,
)

Chosen = frozenset[tuple[int, int]]  # pairs of a role's index and a feature's index in it
MAX_EDIT = 0.12  # what one added sentence may be worth at the seed
SEED_MEAN = (0.37, 0.47)
BEST_MEAN = (0.82, 0.88)
DRAWS = 40
NEED, NEEDED_KINDS = 2.0, 3  # a row that needs a kind feels its features this much
LINE_TOKENS = 14.0  # a usual sentence
FREE_LINES = 7.0  # so many lines a text may have before it becomes clutter
LINE_COST, CLUTTER_COST = 0.04, 0.35  # per line, and per line too many; an average help is 1
_LEVELS = (("easy", 0.3, 1.1), ("medium", 0.45, 0.0), ("hard", 0.25, -1.4))


@dataclass(frozen=True, slots=True)
class Feature:
    """A sentence in the texts of one role.

    Attributes:
        role: Whose text.
        text: The sentence.
        kind: Index of the kind of failure that it is about.
        weight: What it adds to the log-odds of a row that needs its kind as much as the average.
    """

    role: str
    text: str
    kind: int
    weight: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """What two features add together, beyond their sum.

    Attributes:
        first: Role index and feature index.
        second: The same of the other feature.
        weight: Log-odds; negative if one makes the other superfluous.
    """

    first: tuple[int, int]
    second: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True)
class Row:
    """One problem.

    Attributes:
        level: ``easy``, ``medium`` or ``hard``.
        effect: Its log-odds beside those of the average row.
        needs: For each kind, how much features of that kind matter here; 1 on average.
        tokens: Length of its statement.
    """

    level: str
    effect: float
    needs: tuple[float, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All numbers of a landscape.

    Attributes:
        features: Per role, in the order of the roles.
        interactions: Pairs of them.
        seed: The features that the seed bundle holds.
        base: Log-odds of an average row with empty texts.
        scale: Log-odds of one unit of weight; line costs use it too.
    """

    features: tuple[tuple[Feature, ...], ...]
    interactions: tuple[Interaction, ...]
    seed: Chosen
    base: float = 0.0
    scale: float = 1.0


def generator(*parts: object) -> random.Random:
    """Return a random generator that depends on the parts only."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return random.Random(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big"))


def logistic(logit: float) -> float:
    """Return the probability of log-odds."""
    return 1.0 / (1.0 + math.exp(-max(-40.0, logit)))


def draw_rows(seed: int, sizes: Mapping[str, int]) -> tuple[dict[str, Row], dict[str, list[str]]]:
    """Return the rows by name and the names by split; they depend on the seed only."""
    rows: dict[str, Row] = {}
    splits: dict[str, list[str]] = {}
    for split, size in sizes.items():
        splits[split] = [f"{split}-{number:04d}" for number in range(size)]
        for name in splits[split]:
            rng = generator("row", seed, name)
            level, _, centre = rng.choices(_LEVELS, [share for _, share, _ in _LEVELS])[0]
            needed = set(rng.sample(range(len(KINDS)), NEEDED_KINDS))
            rest = (len(KINDS) - NEED * NEEDED_KINDS) / (len(KINDS) - NEEDED_KINDS)
            needs = tuple(NEED if kind in needed else rest for kind in range(len(KINDS)))
            tokens = int(math.exp(rng.gauss(5.8, 0.35)))
            rows[name] = Row(level, centre + rng.gauss(0.0, 0.7), needs, tokens)
    return rows, splits


def draw_plan(
    seed: int, roles: Sequence[str], n_features: int, rows: Sequence[Row], null: bool
) -> Plan:
    """Return a plan whose seed, optimum and single edits are within the limits.

    Of up to ``DRAWS`` draws the first is taken whose largest single edit is worth at most
    ``MAX_EDIT``; if there is none, the one that comes nearest.
    """
    found: tuple[float, Plan] | None = None
    for attempt in range(DRAWS):
        rng = generator("plan", seed, *roles, n_features, attempt)
        plan = _raw_plan(rng, roles, n_features)
        plan = _calibrated(plan, rows, rng.uniform(*SEED_MEAN), rng.uniform(*BEST_MEAN))
        if null:
            return _flat(plan)
        largest = max(single_edits(plan, rows).values(), default=0.0)
        if found is None or largest < found[0]:
            found = (largest, plan)
        if largest <= MAX_EDIT:
            break
    assert found is not None
    return found[1]


def single_edits(plan: Plan, rows: Sequence[Row]) -> dict[tuple[int, int], float]:
    """Return what adding each missing sentence to the seed changes in the mean of the rows."""
    at_seed = mean(plan, plan.seed, rows)
    return {
        (role, index): mean(plan, plan.seed | {(role, index)}, rows) - at_seed
        for role, features in enumerate(plan.features)
        for index in range(len(features))
        if (role, index) not in plan.seed
    }


def mean(plan: Plan, chosen: Chosen, rows: Sequence[Row]) -> float:
    """Return the exact mean of the rows with these features and no other words."""
    return _mean(plan.base, rows, gains(plan, chosen, rows), 1.0)


def gains(plan: Plan, chosen: Chosen, rows: Sequence[Row]) -> list[float]:
    """Return what the features add to the log-odds of each row."""
    kinds, common = terms(plan, chosen, lines_of(plan, chosen))
    return [common + sum(map(mul, kinds, row.needs)) for row in rows]


def terms(plan: Plan, chosen: Chosen, lines: Sequence[float]) -> tuple[tuple[float, ...], float]:
    """Return log-odds by kind, and those that all rows have in common.

    Args:
        plan: The landscape's numbers.
        chosen: The features that the texts hold.
        lines: Length of each role's text beyond its core, in usual lines.
    """
    kinds = [0.0] * len(KINDS)
    for role, index in sorted(chosen):
        feature = plan.features[role][index]
        kinds[feature.kind] += feature.weight
    common = sum(
        pair.weight for pair in plan.interactions if pair.first in chosen and pair.second in chosen
    )
    common -= plan.scale * sum(
        LINE_COST * length + CLUTTER_COST * max(0.0, length - FREE_LINES) for length in lines
    )
    return tuple(kinds), common


def lines_of(plan: Plan, chosen: Chosen) -> list[float]:
    """Return the length of each role's text beyond its core, in usual lines."""
    lengths = [0.0] * len(plan.features)
    for role, index in sorted(chosen):
        lengths[role] += (len(plan.features[role][index].text) + 1) / 4 / LINE_TOKENS
    return lengths


def extra_lines(role: str, text: str) -> float:
    """Return the length of a role text beyond its core, in usual lines."""
    core = count_tokens(core_sentence(role) + "\n" + task_sentence())
    return max(0.0, count_tokens(text) - core) / LINE_TOKENS


def best_by_weight(plan: Plan) -> Chosen:
    """Return the features at a top of the log-odds of an average row, from two starts."""
    helpful = {
        (role, index)
        for role, features in enumerate(plan.features)
        for index, feature in enumerate(features)
        if feature.weight > 0
    }
    tops = [_climb(plan, start) for start in (plan.seed, frozenset(helpful))]
    return max(tops, key=lambda top: (_average(plan, top), sorted(top)))


def _average(plan: Plan, chosen: Chosen) -> float:
    kinds, common = terms(plan, chosen, lines_of(plan, chosen))
    return sum(kinds) + common


def _climb(plan: Plan, start: Chosen) -> Chosen:
    """Toggle one feature, or two that interact, while it helps."""
    moves: list[Chosen] = [
        frozenset({(role, index)})
        for role, features in enumerate(plan.features)
        for index in range(len(features))
    ]
    moves += [frozenset({pair.first, pair.second}) for pair in plan.interactions]
    chosen, value, improved = start, _average(plan, start), True
    while improved:
        improved = False
        for move in moves:
            other = chosen ^ move
            reached = _average(plan, other)
            if reached > value + 1e-12:
                chosen, value, improved = other, reached, True
    return chosen


def _raw_plan(rng: random.Random, roles: Sequence[str], n_features: int) -> Plan:
    slots = [
        (number, sentence)
        for number in range(len(roles))
        for sentence in _sentences(rng, n_features)
    ]
    sound = [place for place, (_, sentence) in enumerate(slots) if sentence.tone == "sound"]
    bad = [place for place, (_, sentence) in enumerate(slots) if sentence.tone == "bad"]
    helpful = set(rng.sample(sound, min(len(sound), 7 + len(roles))))
    harmful = {place for place in bad if rng.random() < 0.7}
    harmful |= {place for place in sound if place not in helpful and rng.random() < 0.1}
    features: list[list[Feature]] = [[] for _ in roles]
    for place, (number, sentence) in enumerate(slots):
        size = 0.4 + min(1.4, rng.expovariate(1.0 / 0.6))
        weight = size if place in helpful else -size if place in harmful else 0.0
        features[number].append(Feature(roles[number], sentence.text, sentence.kind, weight))
    fixed = tuple(tuple(of_role) for of_role in features)
    return Plan(fixed, _interactions(rng, fixed), _seed_features(rng, fixed))


def _sentences(rng: random.Random, n_features: int) -> list[Sentence]:
    """Return the sentences that one role can use, in a random order."""
    counts = {"sound": round(0.62 * n_features), "bad": round(0.2 * n_features)}
    counts["idle"] = n_features - sum(counts.values())
    spare, found = [], []
    for tone, count in counts.items():
        group = [sentence for sentence in SENTENCES if sentence.tone == tone]
        rng.shuffle(group)
        found += group[:count]
        spare += group[count:]
    found += spare[: n_features - len(found)]
    rng.shuffle(found)
    return found


def _interactions(
    rng: random.Random, features: Sequence[Sequence[Feature]]
) -> tuple[Interaction, ...]:
    """Return pairs of different roles; a team of one role has them within its text."""
    places = [(role, index) for role, of in enumerate(features) for index in range(len(of))]
    helpful = [place for place in places if features[place[0]][place[1]].weight > 0]
    others = [place for place in places if features[place[0]][place[1]].weight == 0]
    pairs: dict[frozenset[tuple[int, int]], Interaction] = {}
    for number in range(4 + len(features)):
        pool = others if number % 4 == 3 else helpful
        for _ in range(20):
            if len(pool) < 2:
                break
            first, second = sorted(rng.sample(pool, 2))
            key = frozenset({first, second})
            if (first[0] == second[0] and len(features) > 1) or key in pairs:
                continue
            size = rng.uniform(0.4, 1.0)
            pairs[key] = Interaction(first, second, -size if number % 4 == 1 else size)
            break
    return tuple(pairs.values())


def _seed_features(rng: random.Random, features: Sequence[Sequence[Feature]]) -> Chosen:
    """Return one to three features a role: some that help, some that do not, some that harm."""
    chosen = set()
    for role, of_role in enumerate(features):
        for _ in range(rng.randint(1, 3)):
            sign = rng.choices((1, 0, -1), (0.4, 0.35, 0.25))[0]
            fitting = [
                index
                for index, feature in enumerate(of_role)
                if (feature.weight > 0) - (feature.weight < 0) == sign
            ]
            if fitting:
                chosen.add((role, rng.choice(fitting)))
    return frozenset(chosen)


def _calibrated(plan: Plan, rows: Sequence[Row], at_seed: float, at_best: float) -> Plan:
    """Return the plan with the base and scale that give these two means."""
    low_gains = gains(plan, plan.seed, rows)
    high_gains = gains(plan, best_by_weight(plan), rows)
    low, high = 0.0, 3.0
    for _ in range(24):
        scale = (low + high) / 2
        base = _base(rows, low_gains, scale, at_seed)
        reached = _mean(base, rows, high_gains, scale)
        low, high = (scale, high) if reached < at_best else (low, scale)
    scale = (low + high) / 2
    return replace(_scaled(plan, scale), base=_base(rows, low_gains, scale, at_seed))


def _mean(base: float, rows: Sequence[Row], gained: Sequence[float], scale: float) -> float:
    total = 0.0
    for row, gain in zip(rows, gained, strict=True):
        total += logistic(base + row.effect + scale * gain)
    return total / len(rows)


def _base(rows: Sequence[Row], gained: Sequence[float], scale: float, target: float) -> float:
    low, high = -12.0, 12.0
    for _ in range(30):
        base = (low + high) / 2
        if _mean(base, rows, gained, scale) < target:
            low = base
        else:
            high = base
    return (low + high) / 2


def _scaled(plan: Plan, scale: float) -> Plan:
    features = tuple(
        tuple(replace(feature, weight=feature.weight * scale) for feature in of_role)
        for of_role in plan.features
    )
    pairs = tuple(replace(pair, weight=pair.weight * scale) for pair in plan.interactions)
    return Plan(features, pairs, plan.seed, scale=scale)


def _flat(plan: Plan) -> Plan:
    """Return the plan with all weights 0 and the seed's own share of them in the base."""
    kinds, common = terms(plan, plan.seed, lines_of(plan, plan.seed))
    return replace(_scaled(plan, 0.0), base=plan.base + sum(kinds) + common)
