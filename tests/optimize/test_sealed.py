"""Sealed artifacts: what was sealed is read, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.errors import ArtifactError
from lcbgrid.optimize.scrub import MAXIMUM_CHARACTERS, scrub
from lcbgrid.optimize.sealed import SealedFolder, seal, unseal

CONTENT = {"b": [1, None], "a": "é"}


def test_an_artifact_is_canonical_and_carries_the_hash_of_its_content(tmp_path: Path) -> None:
    folder = SealedFolder(tmp_path / "job")
    digest = folder.write("optimization/selection.json", CONTENT)
    text = (tmp_path / "job/optimization/selection.json").read_text("utf-8")
    assert digest == content_hash(CONTENT)
    assert text == f'{{"a":"é","b":[1,null],"sha256":"{digest}"}}\n'
    assert folder.read("optimization/selection.json") == CONTENT
    assert folder.exists("optimization/selection.json")
    assert not folder.exists("other.json")
    assert [path.name for path in (tmp_path / "job/optimization").iterdir()] == ["selection.json"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a":2}',
        "[1]",
        "",
        '{"a":1,"sha256":"0"}',
        '{"a":NaN,"sha256":"0"}',
        '{"a":1',
        "\udcff",
    ],
)
def test_a_changed_artifact_is_noticed(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ArtifactError, match=r"job\.json"):
        SealedFolder(tmp_path).read("job.json")


def test_one_changed_value_breaks_the_seal(tmp_path: Path) -> None:
    sealed = seal(CONTENT)
    assert unseal(sealed) == CONTENT
    for key in CONTENT:
        with pytest.raises(ArtifactError, match="not what was sealed"):
            unseal({**sealed, key: "other"})
    with pytest.raises(ArtifactError, match="not what was sealed"):
        unseal({**sealed, "c": 0})
    with pytest.raises(ArtifactError, match="key of the seal"):
        seal(sealed)
    with pytest.raises(ArtifactError, match="cannot read"):
        SealedFolder(tmp_path).read("missing.json")


def test_a_sealed_artifact_is_not_replaced_by_accident(tmp_path: Path) -> None:
    folder = SealedFolder(tmp_path)
    folder.write("job.json", CONTENT)
    folder.write("job.json", json.loads(json.dumps(CONTENT)))
    with pytest.raises(ArtifactError, match="another content"):
        folder.write("job.json", {"a": 2})
    assert folder.read("job.json") == CONTENT
    folder.write("job.json", {"a": 2}, replace=True)
    assert folder.read("job.json") == {"a": 2}


@pytest.mark.parametrize(
    "name", ["", "/etc/x", "../x", "a/../../x", "a//b", ".hidden", "a/./b", "a\\b", "a\0b", "x\n"]
)
def test_names_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArtifactError, match="stays in its folder"):
        SealedFolder(tmp_path).write(name, CONTENT)


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job/out").symlink_to(tmp_path)
    with pytest.raises(ArtifactError, match="leads out"):
        SealedFolder(tmp_path / "job").write("out/x.json", CONTENT)


def test_error_texts_name_no_machine() -> None:
    text = scrub(
        "cannot open /home/ann/runs/x.json: http://ann-box:8000/v1 at 10.0.0.7:8000 "
        "(host='db.example.org', key sk-abcdefgh12345678) on C:\\Users\\ann\\y.txt; "
        "1/2 and a/b stay"
    )
    for secret in ("/home", "ann-box", "Users", "10.0.0.7", "example.org", "sk-abc"):
        assert secret not in text
    for kept in ("x.json", "y.txt", "1/2", "a/b stay"):
        assert kept in text
    assert len(scrub("x" * 9000)) == MAXIMUM_CHARACTERS
