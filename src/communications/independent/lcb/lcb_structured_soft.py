"""Independent agents with a vote on LiveCodeBench, communication structured_soft."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("independent", communication="structured_soft")
