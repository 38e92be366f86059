FRAMES = expand(
    "results/aggregate/{name}.{kind}",
    name=["cells", "settings", "margins", "groups", "problems"],
    kind=["csv", "parquet"],
)


rule score:
    input:
        "results/runs/{cell}/verdicts.jsonl",
    output:
        "results/scores/{cell}/score.json",
    log:
        "results/logs/score/{cell}.log",
    conda:
        "../environment.yml"
    params:
        settings=GRID.effective.score_digest(),
    shell:
        "lcbgrid --log-file {log} score --cell {wildcards.cell}"


rule aggregate:
    input:
        scores=expand("results/scores/{cell}/score.json", cell=CELLS),
    output:
        FRAMES,
    log:
        "results/logs/aggregate.log",
    conda:
        "../environment.yml"
    shell:
        "lcbgrid --log-file {log} aggregate"
