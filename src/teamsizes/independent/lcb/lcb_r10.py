"""Independent agents with a vote on LiveCodeBench, team size 10."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("independent", size=10)
