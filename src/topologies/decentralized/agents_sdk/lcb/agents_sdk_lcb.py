"""A debate of peers on LiveCodeBench, made with the OpenAI Agents SDK."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("decentralized_agents_sdk")
