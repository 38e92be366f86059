"""Independent agents with a vote on LiveCodeBench."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("independent")
