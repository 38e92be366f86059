FRAMES = expand(
    "results/aggregate/{name}.{kind}",
    name=[
        "cells",
        "curves",
        "gain_seeds",
        "gain_tests",
        "gains",
        "groups",
        "margins",
        "problems",
        "settings",
    ],
    kind=["csv", "parquet"],
)


# Scoring is part of it: a job of its own for each cell would cost more than the scores.
rule aggregate:
    input:
        verdicts=expand("results/runs/{cell}/verdicts.jsonl", cell=CELLS),
    output:
        FRAMES,
    log:
        "results/logs/aggregate.log",
    conda:
        "../environment.yml"
    params:
        settings=GRID.effective.score_digest(),
    shell:
        "lcbgrid --log-file {log} aggregate"
