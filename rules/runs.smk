rule run:
    input:
        GRID.run_inputs,
        problems=f"results/problems/{DATASET}/problems.jsonl",
    output:
        predictions="results/runs/{cell}/predictions.jsonl",
        transcript="results/runs/{cell}/transcript.jsonl",
    log:
        "results/logs/run/{cell}.log",
    conda:
        "../environment.yml"
    resources:
        embedded_models=GRID.embedded_models,
    params:
        settings=GRID.run_digest,
    shell:
        "lcbgrid --log-file {log} run --cell {wildcards.cell}"
