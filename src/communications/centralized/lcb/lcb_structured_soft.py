"""A manager with workers on LiveCodeBench, communication structured_soft."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("centralized", communication="structured_soft")
