rule judge:
    input:
        predictions="results/runs/{cell}/predictions.jsonl",
        problems=f"results/problems/{DATASET}/problems.jsonl",
    output:
        verdicts="results/runs/{cell}/verdicts.jsonl",
    log:
        "results/logs/judge/{cell}.log",
    conda:
        "../environment.yml"
    resources:
        judges=1,
    params:
        settings=GRID.judge_digest,
    shell:
        "lcbgrid --log-file {log} judge run --cell {wildcards.cell}"
