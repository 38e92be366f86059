"""A sequence of stages on LiveCodeBench, team size 8."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("sequential", size=8)
