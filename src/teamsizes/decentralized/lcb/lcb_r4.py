"""A debate of peers on LiveCodeBench, team size 4."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("decentralized", size=4)
