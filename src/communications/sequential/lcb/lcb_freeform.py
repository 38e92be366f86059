"""A sequence of stages on LiveCodeBench, communication freeform."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("sequential", communication="freeform")
