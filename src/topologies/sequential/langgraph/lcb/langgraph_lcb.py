"""A sequence of stages on LiveCodeBench."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("sequential")
