"""LCB-Grid: topology x optimizer x model x seed, from problems to figures.

Only wiring stands here and in rules/; the work is done by the command `lcbgrid`.
"""

from snakemake.utils import min_version

min_version("9.0")


# The quick start, unless --configfile names another one; files are not mixed behind your back.
if not workflow.config_settings.configfiles:

    configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/problems.smk"
include: "rules/optimize.smk"
include: "rules/runs.smk"
include: "rules/judge.smk"
include: "rules/aggregate.smk"
include: "rules/figures.smk"


rule all:
    default_target: True
    input:
        "results/all",
