"""Prompt landscapes: what a search is measured on must itself be right."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from lcbgrid.models.simulate import landscape as landscape_module
from lcbgrid.models.simulate.landscape import Landscape, exec_digest
from lcbgrid.models.simulate.landscape_examples import split_examples
from lcbgrid.models.simulate.landscape_reflect import ReflectionModel
from lcbgrid.models.simulate.landscape_request import asked_for, read_request
from lcbgrid.models.simulate.landscape_words import KINDS, SENTENCES, core_sentence

ROLES = ("analyzer", "coder", "tester", "debugger")
SEEDS = range(20)


@pytest.fixture(scope="module")
def landscapes() -> list[Landscape]:
    return [Landscape.generate(seed, ROLES) for seed in SEEDS]


@pytest.fixture(scope="module")
def land(landscapes: list[Landscape]) -> Landscape:
    return landscapes[3]


def _fenced(reply: str) -> str:
    parts = reply.split("```")
    return parts[1].strip() if len(parts) >= 3 else reply.strip()


def _ask(role: str, text: str, feedback: str = "") -> str:
    return f"Improve this prompt of {role}.\nCurrent text:\n```\n{text}\n```\n{feedback}\n"


def _climb(
    land: Landscape, budget: int, rows_each: int, *, paired: bool
) -> tuple[dict[str, str], int, int]:
    """Greedy search on a few rows; returns texts, accepted edits and accepted harmful ones."""
    model, texts, train = ReflectionModel(land), land.seed_bundle(), land.splits["train"]
    used = accepted = wrong = step = 0
    while used + 2 * rows_each <= budget:
        role, seed = land.roles[step % len(land.roles)], 1000 * step
        rows = [train[(step * rows_each + place) % len(train)] for place in range(rows_each)]
        before = sum(land.outcome(texts, row, seed) for row in rows)
        feedback = "\n".join(land.feedback(texts, row, seed) for row in rows)
        new = _fenced(model.reply(_ask(role, texts[role], feedback), step))
        step, used = step + 1, used + rows_each
        if "{problem}" not in new:
            continue
        child = texts | {role: new}
        other = seed if paired else seed + 500
        used += rows_each
        if sum(land.outcome(child, row, other) for row in rows) > before:
            accepted += 1
            wrong += land.true_mean(child, "test") < land.true_mean(texts, "test")
            texts = child
    return texts, accepted, wrong


def _with(land: Landscape, texts: Mapping[str, str], role: str, index: int) -> dict[str, str]:
    return dict(texts) | {role: f"{texts[role]}\n{land.features[role][index].text}"}


def test_one_seed_gives_one_landscape_and_another_seed_another() -> None:
    first, second = Landscape.generate(5, ROLES), Landscape.generate(5, ROLES)
    assert first == second
    assert first.seed_bundle() == second.seed_bundle()
    assert first != Landscape.generate(6, ROLES)
    assert first.splits == second.splits
    assert [len(ids) for ids in first.splits.values()] == [150, 50, 100]
    assert len({row for ids in first.splits.values() for row in ids}) == 300


def test_nothing_depends_on_the_hash_seed_of_the_process() -> None:
    program = (
        "import json\n"
        "from lcbgrid.models.simulate.landscape import Landscape\n"
        "from lcbgrid.models.simulate.landscape_reflect import ReflectionModel\n"
        "land = Landscape.generate(3, ('a', 'b'), coupling=0.5)\n"
        "texts = land.seed_bundle()\n"
        "rows = land.splits['test'][:40]\n"
        "asked = 'Improve this prompt:\\n```\\n' + texts['a'] + '\\n```\\n'\n"
        "print(json.dumps([texts, land.best_texts(),\n"
        "    [land.probability(texts, row) for row in rows],\n"
        "    [land.outcome(texts, row, 7) for row in rows],\n"
        "    [land.feedback(texts, row, 7) for row in rows],\n"
        "    [land.credits(texts, row) for row in rows],\n"
        "    [ReflectionModel(land).reply(asked, seed) for seed in range(30)]]))\n"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(results) == 1
    assert len(json.loads(results.pop())) == 7


def test_the_seed_is_middling_the_optimum_high_and_single_edits_small(
    landscapes: list[Landscape],
) -> None:
    for land in landscapes:
        seed, best = (
            land.true_mean(texts, "test") for texts in (land.seed_bundle(), land.best_texts())
        )
        assert 0.33 <= seed <= 0.52
        assert 0.77 <= best <= 0.93
        texts = land.seed_bundle()
        gains = [
            land.true_mean(_with(land, texts, role, index), "validation")
            - land.true_mean(texts, "validation")
            for role in ROLES
            for index in range(len(land.features[role]))
            if index not in land.present(role, texts[role])
        ]
        assert 0.03 < max(gains) < 0.15
        assert sum(gain > 0.01 for gain in gains) >= 4
        assert sum(gain < -0.01 for gain in gains) >= 4


@pytest.mark.parametrize(
    "roles", [("debater",), ("coder", "debugger"), tuple(f"stage_{n}" for n in range(10))]
)
def test_other_sizes_of_team_are_calibrated_too(roles: tuple[str, ...]) -> None:
    land = Landscape.generate(1, roles)
    assert 0.33 <= land.true_mean(land.seed_bundle(), "test") <= 0.52
    assert len(land.features) == len(roles)
    if len(roles) < 10:  # the exact climb is slow for ten roles
        assert land.true_mean(land.best_texts(), "test") >= 0.75


def test_helpful_sentences_raise_and_harmful_ones_lower_every_row(land: Landscape) -> None:
    texts, seen = land.render(frozenset()), set()  # no partner of an interaction is there
    for role in ROLES:
        for index, feature in enumerate(land.features[role]):
            other = _with(land, texts, role, index)
            for row in land.splits["test"][:10]:
                change = land.probability(other, row) - land.probability(texts, row)
                if feature.weight:
                    assert (change > 0) == (feature.weight > 0)
                else:
                    assert -0.01 < change < 0  # only its length counts
            seen.add((feature.weight > 0) - (feature.weight < 0))
    assert seen == {-1, 0, 1}


def test_a_sentence_is_worth_something_else_in_another_role(landscapes: list[Landscape]) -> None:
    spread: dict[str, set[int]] = {}
    for land in landscapes:
        for role in ROLES:
            for feature in land.features[role]:
                sign = (feature.weight > 0) - (feature.weight < 0)
                spread.setdefault(f"{land.seed} {feature.text}", set()).add(sign)
    assert sum(len(signs) > 1 for signs in spread.values()) > 100


def test_interactions_are_between_roles_and_are_not_sums(landscapes: list[Landscape]) -> None:
    signs = set()
    for land in landscapes:
        assert len(land.interactions) >= 4
        bare = land.render(frozenset())
        for pair in land.interactions:
            assert pair.first[0] != pair.second[0]
            one, two = frozenset({pair.first}), frozenset({pair.second})
            row = land.splits["test"][0]
            odds = [
                _logit(land.probability(texts, row))
                for texts in (bare, land.render(one), land.render(two), land.render(one | two))
            ]
            assert odds[3] - odds[2] - odds[1] + odds[0] == pytest.approx(pair.weight, abs=1e-6)
            signs.add(pair.weight > 0)
    assert signs == {True, False}


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def test_in_a_null_landscape_no_text_matters() -> None:
    land = Landscape.generate(3, ROLES, null=True)
    seed = land.seed_bundle()
    everything = land.render(
        frozenset(
            (role, index) for role in range(4) for index in range(len(land.features["coder"]))
        )
    )
    broken = dict.fromkeys(ROLES, "word " * 5000)
    values = {land.probability(seed, row) for row in land.splits["test"]}
    assert len(values) == 100  # rows still differ
    for texts, row in itertools.product(
        (everything, broken, land.best_texts()), land.splits["test"]
    ):
        assert land.probability(texts, row) == land.probability(seed, row)
        assert land.outcome(texts, row, 4) == land.outcome(seed, row, 4)
    assert 0.3 < land.true_mean(seed, "test") < 0.55


def test_clutter_and_lost_placeholders_cost(land: Landscape) -> None:
    texts = land.seed_bundle()
    value = land.true_mean(texts, "test")
    long = texts | {"coder": texts["coder"] + "\n" + "please note this as well " * 80}
    assert land.true_mean(long, "test") < value - 0.03
    lost = texts | {"coder": texts["coder"].replace("{problem}", "the problem")}
    assert land.true_mean(lost, "test") < 0.15
    assert land.true_mean(texts | {"coder": ""}, "test") < 0.15
    assert land.probability(texts | {"coder": "x" * 10_000_000}, "test-0000") >= 0.0


def test_case_and_marks_do_not_hide_a_sentence(land: Landscape) -> None:
    feature = land.features["coder"][0]
    text = "- **" + feature.text.upper().replace(" ", "  ") + "**"
    assert land.present("coder", text) == (0,)
    assert land.present("coder", feature.text[:-8]) == ()


def test_the_true_mean_is_the_mean_of_rollouts(land: Landscape) -> None:
    for texts in (land.seed_bundle(), land.best_texts("validation")):
        rows = land.splits["validation"]
        count = 200
        hits = sum(land.outcome(texts, row, seed) for row in rows for seed in range(count))
        expected = land.true_mean(texts, "validation")
        assert hits / (count * len(rows)) == pytest.approx(expected, abs=4 * 0.5 / 100)


@pytest.mark.parametrize(("coupling", "most"), [(1.0, 0.35), (0.5, 0.8)])
def test_pairing_reduces_the_variance_of_a_difference(coupling: float, most: float) -> None:
    land = Landscape.generate(3, ROLES, coupling=coupling)
    seed, best = land.seed_bundle(), land.best_texts()
    child = seed | {"coder": best["coder"]}
    rows = land.splits["validation"]

    def spread(shift: int) -> float:
        sums = [
            sum(land.outcome(child, row, at + shift) - land.outcome(seed, row, at) for row in rows)
            for at in range(0, 600, 2)
        ]
        return statistics.variance(sums)

    assert spread(0) < most * spread(1)


def test_a_better_text_never_loses_a_row_at_full_coupling(land: Landscape) -> None:
    seed, best = land.seed_bundle(), land.best_texts()
    for row in land.splits["train"]:
        if land.probability(best, row) >= land.probability(seed, row):
            assert land.outcome(best, row, 9) >= land.outcome(seed, row, 9)


def test_without_coupling_the_texts_decide_the_draw() -> None:
    land = Landscape.generate(3, ROLES, coupling=0.0)
    seed = land.seed_bundle()
    other = seed | {"coder": seed["coder"] + "\n"}
    assert exec_digest(seed) != exec_digest(other)
    assert exec_digest(seed) == exec_digest(dict(reversed(seed.items())))
    draws = [(land.draw(seed, row, 1), land.draw(other, row, 1)) for row in land.splits["test"]]
    assert all(first != second for first, second in draws)


def test_feedback_names_what_is_missing_more_often_than_chance(
    landscapes: list[Landscape],
) -> None:
    named = fitting = by_chance = 0.0
    symptoms = {symptom: kind for kind, (_, symptom) in enumerate(KINDS)}
    for land in landscapes:
        texts = land.seed_bundle()
        lacking = {
            (role, feature.kind)
            for role in ROLES
            for index, feature in enumerate(land.features[role])
            if (feature.weight > 0) != (index in land.present(role, texts[role]))
            and feature.weight
        }
        for row in land.splits["train"]:
            line = land.feedback(texts, row, 2)
            assert line.startswith(row)
            assert line.endswith("solved.") == land.outcome(texts, row, 2)
            match = re.search(r"failed; (.*) \(role (\w+)\)", line)
            if match:
                named += 1
                fitting += (match[2], symptoms[match[1]]) in lacking
                by_chance += len(lacking) / (len(ROLES) * len(KINDS))
    assert named > 1000
    assert fitting / named > 0.75
    assert fitting > 1.3 * by_chance


def test_credits_are_shares_and_rise_with_the_text(land: Landscape) -> None:
    seed, best = land.seed_bundle(), land.best_texts()
    rises = []
    for row in land.splits["train"]:
        low, high = land.credits(seed, row), land.credits(best, row)
        assert all(0.0 <= credit <= 1.0 for credit in [*low.values(), *high.values()])
        rises.append(statistics.mean(high.values()) - statistics.mean(low.values()))
    assert statistics.mean(rises) > 0.3


def test_longer_texts_and_larger_teams_cost_more(land: Landscape) -> None:
    texts, row = land.seed_bundle(), land.splits["train"][0]
    cost = land.cost(texts, row)
    assert cost.model_calls == 4
    assert cost.total_tokens == cost.input_tokens + cost.output_tokens > 0
    longer = texts | {"coder": texts["coder"] + " and so on" * 40}
    assert land.cost(longer, row).input_tokens > cost.input_tokens + 90
    single = Landscape.generate(3, ("debater",), team_size=4)
    assert single.cost(single.seed_bundle(), row).model_calls == 4


def test_wrong_requests_are_refused(land: Landscape) -> None:
    texts = land.seed_bundle()
    for wrong in ({}, {"coder": "x"}, texts | {"more": "x"}):
        with pytest.raises(ValueError, match="roles analyzer, coder"):
            land.probability(wrong, "test-0000")
    with pytest.raises(KeyError):
        land.probability(texts, "no such row")
    for options in (
        {"roles": ()},
        {"roles": ("a", "a")},
        {"roles": ("a", " ")},
        {"n_features": 5},
        {"n_features": 49},
        {"coupling": 1.5},
        {"splits": {"train": 0}},
        {"team_size": 1},
    ):
        with pytest.raises(
            ValueError, match=r"a landscape needs|must be|at least one row|not smaller"
        ):
            Landscape.generate(**{"seed": 0, "roles": ROLES} | options)


def test_each_rollout_is_one_hash_and_each_text_is_read_once(
    land: Landscape, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Speed by counting: 5,000 rollouts read four texts and solve 300 probabilities once."""
    fresh = Landscape.generate(3, ROLES)
    counts = {"chance": 0, "logistic": 0, "plain": 0}

    def counted(name: str, key: str) -> None:
        real = getattr(landscape_module, name)

        def call(*parts: object) -> object:
            counts[key] += 1
            return real(*parts)

        monkeypatch.setattr(landscape_module, name, call)

    counted("chance", "chance")
    counted("logistic", "logistic")
    counted("_plain", "plain")
    texts = fresh.seed_bundle()
    rows = [row for ids in fresh.splits.values() for row in ids]
    for number in range(5000):
        fresh.outcome(dict(texts), rows[number % 300], number)
    assert counts == {"chance": 5000, "logistic": 300, "plain": 4}


def test_no_sentence_touches_what_a_text_must_keep(repository: Path) -> None:
    teams = yaml.safe_load((repository / "config/teams.yaml").read_text())["teams"]
    names = {role["name"] for team in teams.values() for role in team["roles"]}
    assert len({sentence.text for sentence in SENTENCES}) == len(SENTENCES)
    for text in [sentence.text for sentence in SENTENCES]:
        assert not re.search(r"[{}`<>_]", text)
        assert not names & set(re.findall(r"\w+", text.lower()))
        assert not any(text != other.text and text[:-1] in other.text for other in SENTENCES)


def test_replies_are_texts_of_the_role_and_some_are_malformed(land: Landscape) -> None:
    texts, model = land.seed_bundle(), ReflectionModel(land)
    count, kinds = 2000, {"empty": 0, "no fence": 0, "cut": 0, "lost": 0}
    for seed in range(count):
        prompt = _ask("tester", texts["tester"])
        reply = model.reply(prompt, seed)
        assert reply == model.reply(prompt, seed)
        if not reply:
            kinds["empty"] += 1
        elif "```" not in reply:
            kinds["no fence"] += 1
        elif reply.count("```") == 1:
            kinds["cut"] += 1
        elif "{problem}" not in reply:
            kinds["lost"] += 1
        else:
            assert _fenced(reply).startswith(core_sentence("tester"))
    assert min(kinds.values()) > 0.005 * count
    assert 0.04 < sum(kinds.values()) / count < 0.08
    never = ReflectionModel(land, malformed=0.0)
    assert all("{problem}" in never.reply(_ask("coder", texts["coder"]), s) for s in range(200))


def test_quality_and_feedback_make_better_edits(landscapes: list[Landscape]) -> None:
    def worth(quality: float, with_feedback: bool) -> float:
        gains = []
        for land in landscapes[:8]:
            model, texts = (
                ReflectionModel(land, quality=quality, malformed=0.0),
                land.seed_bundle(),
            )
            for step in range(40):
                role, train = ROLES[step % 4], land.splits["train"]
                lines = [land.feedback(texts, row, 3) for row in train[3 * step : 3 * step + 3]]
                asked = _ask(role, texts[role], "\n".join(lines) if with_feedback else "")
                child = texts | {role: _fenced(model.reply(asked, step))}
                gains.append(land.true_mean(child, "test") - land.true_mean(texts, "test"))
        return statistics.mean(gains)

    best, middling, blind = worth(1.0, True), worth(0.75, True), worth(0.0, True)
    assert best > middling > blind
    assert blind < 0.005
    assert middling > worth(0.75, False)


@pytest.mark.parametrize(
    "shape",
    [
        "Improve this prompt.\n```\n{text}\n```\nCases:\n```\nrow 1 failed\n```",
        "Rewrite the instruction.\n\n~~~text\n{text}\n~~~\nThank you",
        "Give a better prompt.\n<current_text>\n{text}\n</current_text>\n<cases>\nnone\n</cases>",
        "Refine the prompt\n--- BEGIN CURRENT ---\n{text}\n--- END CURRENT ---\nfeedback",
        "Improve the prompt.\nCurrent text:\n{text}\n\nFeedback: it failed",
        "Best so far:\n```\n{other}\n```\nImprove the prompt, the current text:\n```\n{text}\n```",
    ],
)
def test_the_current_text_is_found_in_many_shapes(land: Landscape, shape: str) -> None:
    texts = land.seed_bundle()
    prompt = shape.replace("{text}", texts["coder"]).replace("{other}", texts["tester"])
    request = read_request(prompt, ROLES)
    assert (request.role, request.text) == ("coder", texts["coder"])


def test_texts_of_strangers_are_improved_too(land: Landscape) -> None:
    request = read_request("Improve the tester prompt.\n```\nDo well.\n```", ROLES)
    assert (request.role, request.text) == ("tester", "Do well.")
    for prompt in ("", "Improve this prompt", "```", "<a>" * 50, "\ud800 new prompt:"):
        assert isinstance(ReflectionModel(land).reply(prompt, 1), str)


@pytest.mark.parametrize(
    ("wish", "first", "last"),
    [
        ("Return it between [[START]] and [[STOP]].", "[[START]]", "[[STOP]]"),
        ("Put the text inside <new_text> tags.", "<new_text>", "</new_text>"),
        ("Return it in a fence.", "```", "```"),
        ("Return it between BEGIN and END.", "BEGIN", "END"),
    ],
)
def test_the_reply_stands_between_the_marks_that_were_asked_for(
    land: Landscape, wish: str, first: str, last: str
) -> None:
    prompt = _ask("coder", land.seed_bundle()["coder"], wish)
    reply = ReflectionModel(land, malformed=0.0).reply(prompt, 1)
    inside = reply.split(first, 1)[1].rsplit(last, 1)[0].strip()
    assert inside.startswith(core_sentence("coder"))
    assert "{problem}" in inside


def test_feedback_on_another_role_is_not_followed() -> None:
    lines = f"a: failed; {KINDS[3].symptom} (role tester).\nb: failed; {KINDS[4].symptom}."
    prompt = _ask("coder", core_sentence("coder"), lines)
    assert read_request(prompt, ROLES).kinds == {4: 1}


def test_requests_of_an_instruction_proposer_are_answered(land: Landscape) -> None:
    model, text = ReflectionModel(land, malformed=0.0), land.seed_bundle()["coder"]
    look = "Here are rows of a data set. Write observations about trends in it."
    follow = f"Prior observations: many.\n{look} If nothing is left to add, say COMPLETE."
    new = (
        "Data set summary: programs.\nModule description: it codes.\nBasic instruction:\n"
        f"```\n{text}\n```\nTip: be {{tip}}.\nPropose a new instruction in a fence."
    )
    assert asked_for(look) == "observations"
    assert len(model.reply(look, 1)) > 60
    ends = sum(model.reply(follow, seed) == "COMPLETE" for seed in range(200))
    assert 40 < ends < 100
    assert "data set" in model.reply("Summarize these observations: many. In two sentences.", 1)
    assert "coder" in model.reply("Describe what the module coder does.", 1)
    sizes = {
        tip: statistics.mean(
            len(_fenced(model.reply(new.replace("{tip}", tip), seed))) for seed in range(100)
        )
        for tip in ("concise", "careful", "detailed")
    }
    assert sizes["concise"] < sizes["careful"] < sizes["detailed"]


def test_a_small_search_finds_a_gain_and_greed_on_five_rows_errs(
    landscapes: list[Landscape],
) -> None:
    gains, accepted, wrong = [], 0, 0
    for land in landscapes:
        texts, taken, bad = _climb(land, 200, 5, paired=True)
        gains.append(land.true_mean(texts, "test") - land.true_mean(land.seed_bundle(), "test"))
        _, unpaired, unpaired_bad = _climb(land, 200, 5, paired=False)
        accepted, wrong = accepted + unpaired, wrong + unpaired_bad
        assert bad <= 0.2 * taken + 1
    assert sum(gain > 0 for gain in gains) >= 15
    assert statistics.median(gains) > 0.05
    assert 0.25 < wrong / accepted < 0.6


def _block(count: int) -> str:
    return "\n\n# Worked examples\nLook at them.\n\n" + "\n\n".join(
        f"```\n{{'n': {number}}}\n```" for number in range(count)
    )


def test_examples_saturate_are_no_clutter_and_cost_tokens(landscapes: list[Landscape]) -> None:
    worth = [value for land in landscapes for value in land.examples.values()]
    assert 0.4 < sum(value > 0 for value in worth) / len(worth) < 0.65
    assert 0.1 < sum(value < 0 for value in worth) / len(worth) < 0.35
    land = next(land for land in landscapes if land.examples["coder"] > 0)
    texts, row = land.seed_bundle(), land.splits["test"][0]

    def logit(count: int) -> float:
        text = texts["coder"] + (_block(count) if count else "")
        p = land.probability({**texts, "coder": text}, row)
        return math.log(p / (1 - p))

    gained = [logit(count) - logit(0) for count in (1, 2, 4)]
    shares = [gain / land.examples["coder"] for gain in gained]
    assert shares == pytest.approx([0.5, 0.75, 0.9375])
    longer = {**texts, "coder": texts["coder"] + _block(4)}
    assert land.cost(longer, row).total_tokens > land.cost(texts, row).total_tokens
    assert land.chosen(longer) == land.chosen(texts)


def test_examples_do_not_decide_alone_and_null_stays_null(landscapes: list[Landscape]) -> None:
    gains = []
    for land in landscapes:
        texts = land.seed_bundle()
        shown = {role: text + _block(4) for role, text in texts.items()}
        gains.append(land.true_mean(shown, "test") - land.true_mean(texts, "test"))
    assert 0.005 < statistics.mean(gains) < 0.04
    assert max(map(abs, gains)) < 0.12  # what one sentence may be worth
    flat = Landscape.generate(3, ROLES, null=True)
    texts = flat.seed_bundle()
    shown = {role: text + _block(4) for role, text in texts.items()}
    assert flat.true_mean(shown, "test") == flat.true_mean(texts, "test")


def test_a_sentence_in_an_example_is_no_instruction_and_one_after_it_counts() -> None:
    assert split_examples("a\nb") == ("a\nb", 0)
    assert split_examples("a\n# Worked examples\nnone") == ("a\n# Worked examples\nnone", 0)
    text = "a\n\n# Worked examples\nsee\n\n```\nx\n```\n\n````\n```\ny\n````\nafter"
    assert split_examples(text) == ("a\nafter", 2)
