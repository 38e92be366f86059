"""A sequence of stages on LiveCodeBench, made with CrewAI."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("sequential_crewai")
