FIGURES = expand(
    "figures/{name}.{kind}",
    name=[
        "communication_pass_at_1",
        "optimizer_curves",
        "optimizer_forest",
        "optimizer_gains",
        "pass_at_1",
        "team_size_pass_at_1",
        "tokens_pass_at_1",
    ],
    kind=["csv", "md", "pdf", "png", "svg"],
)
TABLES = expand(
    "results/tables/{name}.{kind}",
    name=["main", "optimizers", "problems"],
    kind=["csv", "md", "tex"],
)
TIMING_TABLES = expand("results/tables/timing.{kind}", kind=["csv", "md"])
REPORT = "results/report/index.html"


rule draw:
    input:
        FRAMES,
    output:
        FIGURES,
        TABLES,
        TIMING_TABLES,
        REPORT,
    log:
        "results/logs/draw.log",
    conda:
        "../environment.yml"
    shell:
        "lcbgrid --log-file {log} draw"


rule finish:
    input:
        FIGURES,
        TABLES,
        TIMING_TABLES,
        REPORT,
    output:
        "results/all",
    log:
        "results/logs/finish.log",
    conda:
        "../environment.yml"
    shell:
        "lcbgrid --log-file {log} finish"


# Redraws everything from cached runs: no inputs, so no model, no network, whatever file times say.
rule figures:
    log:
        "results/logs/figures.log",
    conda:
        "../environment.yml"
    shell:
        "lcbgrid --log-file {log} redraw"
