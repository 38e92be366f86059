"""A sequence of stages on LiveCodeBench, communication semi_structured."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("sequential", communication="semi_structured")
