"""Canonical JSON, content hashes, and the digests of bundles."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.optimize.bundles import bundle_from_json, bundle_to_json, check_bundle
from lcbgrid.optimize.canonical import canonical_json, content_hash
from lcbgrid.optimize.errors import ArtifactError, ContractError
from lcbgrid.teams.bundle import PromptBundle

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Lone surrogates are replaced, so they do not come back.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_known_answers() -> None:
    value = {"b": 1, "a": ["é", None, True]}
    assert canonical_json(value) == '{"a":["é",null,true],"b":1}'
    assert content_hash(value).startswith("e89900f4be0e71e6")
    bundle = PromptBundle({"w": "x", "m": "y"})
    assert bundle.full_digest.startswith("c18f20b99a081f99")
    assert content_hash(bundle_to_json(bundle)) == bundle.full_digest


@given(JSON)
def test_canonical_json_is_read_back_and_spelled_once(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [float("nan")]}, "$.a[0]"),
        (float("inf"), "$"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": {1, 2}}, "$.a"),
        (b"x", "$"),
    ],
)
def test_what_json_cannot_say_is_refused_with_its_place(value: object, where: str) -> None:
    with pytest.raises(ContractError) as caught:
        canonical_json(value)
    assert caught.value.where == where


def test_half_a_character_becomes_a_whole_one() -> None:
    assert canonical_json({"a": "x\ud800y"}).encode() == '{"a":"x\ufffdy"}'.encode()


def test_tuples_are_lists() -> None:
    assert canonical_json((1, (2,))) == canonical_json([1, [2]])


def test_the_digests_of_a_bundle() -> None:
    plain = PromptBundle({"a": "x"})
    told = PromptBundle({"a": "x"}, metadata={"from": "gepa"})
    shown = PromptBundle({"a": "x"}, demos=({"role": "a", "text": "1"},))
    assert plain.exec_digest == told.exec_digest != shown.exec_digest
    assert len({plain.full_digest, told.full_digest, shown.full_digest}) == 3
    # The digest of the prompts alone stands in recorded runs and does not change.
    assert plain.digest == told.digest == shown.digest
    assert plain.digest == content_hash({"a": "x"})


def test_a_bundle_comes_back_from_json() -> None:
    bundle = PromptBundle({"a": "x"}, {"from": ["y"]}, ({"role": "a", "text": "1"},))
    back = bundle_from_json(json.loads(canonical_json(bundle_to_json(bundle))))
    assert back.full_digest == bundle.full_digest
    with pytest.raises(ArtifactError, match="keys"):
        bundle_from_json({"roles": {"a": "x"}})


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        (PromptBundle({}), "at least one role"),
        (PromptBundle({"a": " \n"}), "blank"),
        (PromptBundle({"a": "x\ud800"}), "half a character"),
        (PromptBundle({"a": "x"}, demos=({"role": "b"},)), "demo 0"),
        (PromptBundle({"a": "x", "c": "y"}), r"lost \['b'\], new \['c'\]"),
    ],
)
def test_a_bundle_that_cannot_stand_for_a_team(bundle: PromptBundle, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        check_bundle(bundle, PromptBundle({"a": "x", "b": "y"}))
