# The train and validation problems, apart from the test problems: a search never opens those.
rule prepare_search:
    input:
        GRID.data_files,
    output:
        manifest=f"results/search_problems/{DATASET}/manifest.json",
    log:
        f"results/logs/prepare/{DATASET}-search.log",
    conda:
        "../environment.yml"
    params:
        settings=GRID.search_problems_digest,
    shell:
        "lcbgrid --log-file {log} optimize prepare"


# Searches prompts and decides what the cell runs with; the work is kept outside of the output.
rule optimize:
    input:
        GRID.optimize_inputs,
    output:
        bundle="results/optimize/{cell}/bundle.json",
    log:
        "results/logs/optimize/{cell}.log",
    priority: 10  # searches take longest and others wait for them
    conda:
        "../environment.yml"
    resources:
        embedded_models=GRID.search_models,
        judges=1,
    params:
        settings=GRID.optimize_digest,
    shell:
        "lcbgrid --log-file {log} optimize run --cell {wildcards.cell}"
