"""A manager with workers on LiveCodeBench, communication freeform."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("centralized", communication="freeform")
