"""A manager with workers on LiveCodeBench, team size 10."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("centralized", size=10)
