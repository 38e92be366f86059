"""Independent agents with a vote on LiveCodeBench, communication semi_structured."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("independent", communication="semi_structured")
