"""A judge for each tier, and short ways to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import SandboxError
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestCase, TestSuite

Ask = Callable[..., Verdict]


@pytest.fixture(scope="session")
def bwrap_judge() -> Iterator[Judge]:
    with Judge(JudgeSpec(sandbox="bwrap")) as judge:
        yield judge


@pytest.fixture(scope="session")
def rlimits_judge() -> Iterator[Judge]:
    with Judge(JudgeSpec(sandbox="rlimits")) as judge:
        yield judge


@pytest.fixture(scope="session")
def userns_judge() -> Iterator[Judge]:
    with Judge(JudgeSpec(sandbox="userns")) as judge:
        try:
            judge.probe()
        except SandboxError as error:
            pytest.skip(f"no namespaces without a tool here: {error}")
        yield judge


@pytest.fixture(scope="session", params=["bwrap", "userns", "rlimits"])
def any_judge(request: pytest.FixtureRequest) -> Judge:
    """The judge of each tier in turn; both must keep the same contract."""
    return request.getfixturevalue(f"{request.param}_judge")


def ask_of(judge: Judge) -> Ask:
    """Return a function that judges a program on (input, output) pairs."""

    def ask(
        code: str | None,
        *pairs: tuple[str, str],
        fn_name: str | None = None,
        time_s: float = 6.0,
        memory_mb: int = 1024,
        output_bytes: int | None = None,
        float_tol: float | None = None,
    ) -> Verdict:
        mode = "functional" if fn_name else "stdin"
        tests = tuple(TestCase(given, wanted, mode) for given, wanted in pairs)
        return judge.judge(
            code,
            TestSuite("q", fn_name, tests, n_public=0),
            limits_override=Limits(time_s, memory_mb, output_bytes),
            float_tol=float_tol,
        )

    return ask


@pytest.fixture
def ask(bwrap_judge: Judge) -> Ask:
    return ask_of(bwrap_judge)


@pytest.fixture
def ask_any(any_judge: Judge) -> Ask:
    return ask_of(any_judge)
