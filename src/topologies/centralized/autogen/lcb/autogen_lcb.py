"""A manager with workers on LiveCodeBench, made with AutoGen."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("centralized_autogen")
