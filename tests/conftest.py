"""Shared fixtures: where things are, and an environment without anybody's keys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The source checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real LiveCodeBench rows; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("LCBGRID_SHARED", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real LiveCodeBench rows at {folder} (set LCBGRID_SHARED)")
    return folder


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VLLM_BASE_URL", "MODEL_ID", "OPENAI_API_KEY", "LCB_FUNCTIONAL_MEMORY_BYTES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
