rule prepare:
    input:
        GRID.data_files,
    output:
        problems=f"results/problems/{DATASET}/problems.jsonl",
        splits=f"results/problems/{DATASET}/splits.json",
        manifest=f"results/problems/{DATASET}/manifest.json",
    log:
        f"results/logs/prepare/{DATASET}.log",
    conda:
        "../environment.yml"
    params:
        settings=GRID.effective.dataset_digest(),
    shell:
        "lcbgrid --log-file {log} problems prepare"
