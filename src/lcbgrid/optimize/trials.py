"""The store of evaluated bundles: an Optuna study of the job, or the memory.

Optimizers specification, section 8. A trial is one evaluated bundle and is added finished, so a
killed search leaves no trial running. Texts stand in ``bundle-<digest>.json`` files, not in the
study. Optuna is imported when the first study is opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lcbgrid.core import locks
from lcbgrid.core.errors import LcbGridError
from lcbgrid.core.jsonl import cut_torn_tail
from lcbgrid.optimize.bundles import bundle_to_json, check_bundle
from lcbgrid.optimize.canonical import content_hash, plain
from lcbgrid.optimize.errors import ArtifactError, ContractError
from lcbgrid.optimize.sealed import SealedFolder
from lcbgrid.teams.bundle import PromptBundle

if TYPE_CHECKING:
    import optuna

State = Literal["complete", "pruned", "fail"]
STUDY_FILE = "study.log"
LOCK_WAIT_S = 60.0
_OWN = frozenset({"key", "bundle", "fingerprint", "outcome", "value_estimate"})


class MemoryTrials:
    """Implements ``interface.Trials`` without a file; the base of the study.

    Attributes:
        keys: Logical keys in the order of their trials' numbers.
        bundles: What this process recorded, by key.
    """

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.bundles: dict[str, PromptBundle] = {}
        self._numbers: dict[str, tuple[int, str]] = {}

    def trial(
        self,
        key: str,
        *,
        bundle: PromptBundle,
        params: Mapping[str, int],
        value: float | None,
        scores: Sequence[float] = (),
        state: State = "complete",
        attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Record an evaluated bundle; see ``interface.Trials.trial``.

        Raises:
            ContractError: The key is there with another content, or an attribute has a name of
                the store's own.
        """
        check_bundle(bundle)
        more = dict(attributes or {})
        if taken := sorted(_OWN & set(more)):
            raise ContractError("the store uses this name itself", where=key, value=taken[0])
        content = {
            "key": key,
            "bundle": bundle.full_digest,
            "params": dict(params),
            "value": None if value is None else float(value),
            "scores": [float(score) for score in scores],
            "state": state,
            "attributes": more,
        }
        fingerprint = content_hash(content)
        self.bundles[key] = bundle
        if key in self._numbers:
            number, known = self._numbers[key]
            if known != fingerprint:
                raise ContractError("the trial is there with another content", where=key)
            return number
        self._add(plain(content), bundle, fingerprint)
        return self._number(key, fingerprint)

    def _number(self, key: str, fingerprint: str) -> int:
        number = len(self.keys)
        self._numbers[key] = (number, fingerprint)
        self.keys.append(key)
        return number

    def _add(self, content: Mapping[str, Any], bundle: PromptBundle, fingerprint: str) -> None:
        """Write a new trial."""


class StudyTrials(MemoryTrials):
    """An Optuna study in a journal file, with the bundles beside it.

    Only one process writes to it, the one that holds the job's lock; others may read it at any
    time, for example ``optuna-dashboard``.

    Args:
        folder: Where the study and the bundles lie.
        name: Of the study: the job's identity.
        attributes: Of the study.

    Raises:
        ArtifactError: The file is damaged.
        ContractError: The study was not written by this class.
    """

    def __init__(
        self, folder: Path | str, name: str, attributes: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self._folder = SealedFolder(folder)
        self.study = open_study(Path(folder) / STUDY_FILE, name)
        for key, item in plain(attributes or {}).items():
            self.attribute(key, item)
        for trial in self.study.get_trials(deepcopy=False):
            try:
                key, fingerprint = trial.user_attrs["key"], trial.user_attrs["fingerprint"]
            except KeyError:
                raise ContractError(
                    "the study holds a foreign trial", value=trial.number
                ) from None
            self._number(key, fingerprint)

    def attribute(self, name: str, value: object) -> None:
        """Set an attribute of the study, unless it has that value."""
        if self.study.user_attrs.get(name) != value:
            self.study.set_user_attr(name, plain(value))

    def _add(self, content: Mapping[str, Any], bundle: PromptBundle, fingerprint: str) -> None:
        self._folder.write(f"bundle-{bundle.full_digest}.json", bundle_to_json(bundle))
        self.study.add_trial(_finished(content, fingerprint))


def open_study(path: Path, name: str) -> optuna.Study:
    """Open or make the study of a job in a journal file.

    A line that a kill has torn is cut off first, since Optuna would append to it.

    Raises:
        ArtifactError: The file is damaged.
    """
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_torn_tail(path)
    lock: Any = _KernelLock(path)
    try:
        return optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(path), lock_obj=lock)),
            study_name=name,
            direction="maximize",
            load_if_exists=True,
        )
    except (LcbGridError, OSError):
        raise
    except Exception as error:  # Optuna reads any line as an operation
        raise ArtifactError(
            f"the study cannot be read: {type(error).__name__}",
            where=path.name,
            remedy="remove the file; it is made again from the journals, without a call",
        ) from error


class _KernelLock:
    """A lock for Optuna's journal that dies with its owner; Optuna's own would be left behind."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".flock")
        self._descriptor = -1

    def acquire(self) -> bool:
        self._descriptor = locks.acquire(self._path, what="the study", wait_s=LOCK_WAIT_S)
        return True

    def release(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1


def _finished(content: Mapping[str, Any], fingerprint: str) -> optuna.trial.FrozenTrial:
    """Return the trial.

    Optuna has no complete trial without a value; such a one is stored as pruned, and its
    attribute ``outcome`` keeps saying ``complete``.
    """
    from optuna.distributions import IntDistribution
    from optuna.trial import TrialState, create_trial

    value, outcome = content["value"], content["state"]
    states = {
        "complete": TrialState.PRUNED if value is None else TrialState.COMPLETE,
        "pruned": TrialState.PRUNED,
        "fail": TrialState.FAIL,
    }
    state = states[outcome]
    attributes = {
        **content["attributes"],
        "key": content["key"],
        "bundle": content["bundle"],
        "fingerprint": fingerprint,
        "outcome": outcome,
    }
    if value is not None and state is not TrialState.COMPLETE:
        attributes["value_estimate"] = value
    return create_trial(
        state=state,
        value=value if state is TrialState.COMPLETE else None,
        params=content["params"],
        distributions={
            name: IntDistribution(min(0, number), max(1, number))
            for name, number in content["params"].items()
        },
        user_attrs=attributes,
        intermediate_values=dict(enumerate(content["scores"])),
    )
