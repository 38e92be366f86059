"""A manager with workers on LiveCodeBench, communication semi_structured."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("centralized", communication="semi_structured")
