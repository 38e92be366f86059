"""A debate of peers on LiveCodeBench, communication structured_soft."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("decentralized", communication="structured_soft")
