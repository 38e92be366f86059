"""A sequence of stages on LiveCodeBench, communication structured_soft."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("sequential", communication="structured_soft")
