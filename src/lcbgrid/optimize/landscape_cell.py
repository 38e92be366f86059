"""A cell on a simulated prompt landscape: no model, no endpoint, and the truth is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from lcbgrid.core.errors import EndpointError
from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.models.simulate.landscape_reflect import ReflectionModel
from lcbgrid.optimize.cell import Cell
from lcbgrid.optimize.interface import Row
from lcbgrid.optimize.records import RunRecord, Usage, status_of
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.optimize.rows import row_id
from lcbgrid.teams.bundle import PromptBundle

MODEL = "landscape"
Fault = Callable[[str, int], bool]


class LandscapeWorld:
    """Runs bundles on a landscape and answers reflection requests.

    Args:
        landscape: Which one.
        reflection: Its reflection model; ``None``: the usual one.
        latency_s: How long a rollout takes.
        reflection_latency_s: How long a reflection call takes.
        fault: Asked with row and request seed before each rollout; true makes it fail.

    Attributes:
        rollouts: Rows that were run, in the order of starting, failures included.
        in_flight: Most rollouts that were under way at a time.
    """

    def __init__(
        self,
        landscape: Landscape,
        *,
        reflection: ReflectionModel | None = None,
        latency_s: float = 0.0,
        reflection_latency_s: float = 0.0,
        fault: Fault | None = None,
    ) -> None:
        self.landscape = landscape
        self.rollouts: list[str] = []
        self.in_flight = 0
        self._running = 0
        self._reflection = reflection or ReflectionModel(landscape)
        self._latency_s = latency_s
        self._reflection_latency_s = reflection_latency_s
        self._fault = fault
        self._train = frozenset(landscape.splits["train"])

    async def execute(self, row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        """Run one rollout; what the judge says is told for train rows only.

        Raises:
            EndpointError: The injected fault said so.
        """
        name = row_id(row)
        self.rollouts.append(name)
        self._running += 1
        self.in_flight = max(self.in_flight, self._running)
        try:
            if self._latency_s:
                await asyncio.sleep(self._latency_s)
            if self._fault is not None and self._fault(name, request_seed):
                raise EndpointError("the simulated endpoint did not answer", where=name)
            return self._record(name, bundle, request_seed)
        finally:
            self._running -= 1

    async def reflect(self, request: Request) -> Reply:
        """Answer a reflection request."""
        if self._reflection_latency_s:
            await asyncio.sleep(self._reflection_latency_s)
        prompt = (
            request.prompt if request.system is None else f"{request.system}\n{request.prompt}"
        )
        text = self._reflection.reply(prompt, request.request_seed)
        return Reply(text, *self._reflection.cost(prompt, text), finish_reason="stop")

    def _record(self, name: str, bundle: PromptBundle, request_seed: int) -> RunRecord:
        texts, world = bundle.prompts, self.landscape
        score = float(world.outcome(texts, name, request_seed))
        cost = world.cost(texts, name)
        said: dict[str, object] = {}
        if name in self._train:
            said = {
                "feedback": world.feedback(texts, name, request_seed),
                "credits": world.credits(texts, name),
            }
        return RunRecord(
            cell_id="",
            example_id=name,
            status=status_of(score),
            final_output="a simulated program",
            score=score,
            request_seed=request_seed,
            messages=tuple(
                {"source": role, "content": f"The {role} did its part of {name}."}
                for role in world.roles
            ),
            usage=Usage(cost.model_calls, 0, cost.input_tokens, cost.output_tokens),
            framework="simulated",
            model_id=MODEL,
            metadata={"scorer_metadata": said},
        )


def landscape_cell(world: LandscapeWorld, topology: str = "") -> Cell:
    """Return the cell of a landscape.

    Args:
        world: Runs it.
        topology: Name of the team whose roles the landscape has.
    """
    landscape = world.landscape
    splits = landscape.splits
    return Cell(
        names={
            "task": "landscape",
            "landscape_seed": landscape.seed,
            "null": landscape.null,
            "coupling": landscape.coupling,
            "topology": topology,
            "roles": list(landscape.roles),
            "team_size": landscape.team_size,
            "model": MODEL,
        },
        seed_bundle=PromptBundle(landscape.seed_bundle()),
        role_order=landscape.roles,
        train=landscape_rows(landscape, "train"),
        validation=landscape_rows(landscape, "validation"),
        test_ids=tuple(splits["test"]),
        load_test=lambda: landscape_rows(landscape, "test"),
        search=world.execute,
        evaluate=world.execute,
        reflect=world.reflect,
        reflection_model=MODEL,
    )


def landscape_rows(landscape: Landscape, split: str) -> Sequence[Row]:
    """Return the rows of a split as optimizers see them."""
    return [
        {"id": name, "statement": landscape.statement(name)} for name in landscape.splits[split]
    ]
