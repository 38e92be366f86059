from pathlib import Path

from snakemake.exceptions import WorkflowError

from lcbgrid.core.errors import LcbGridError
from lcbgrid.stages.workflow import Workflow, check_files, cores, use_own_commands

try:
    check_files(workflow.configfiles)
    GRID = Workflow(config, Path(workflow.basedir))
except LcbGridError as error:
    raise WorkflowError(str(error)) from None

use_own_commands()  # so that an environment that is not activated works, too
CELLS = GRID.cell_paths
DATASET = GRID.dataset

# One model in memory per core, and one judging job per core, whatever -j says.
for _name in ("embedded_models", "judges"):
    if _name not in workflow.global_resources:
        workflow.register_resource(_name, cores())


# Rules name the file that a stage writes last; what else the stage wrote is there when that is
# (docs/design/architecture.md). Planning a large grid takes half the time for it.


wildcard_constraints:
    cell=GRID.cell_pattern,


onstart:
    try:
        GRID.start({job.rule.name for job in workflow.dag.needrun_jobs()})
    except LcbGridError as error:
        raise WorkflowError(str(error)) from None
