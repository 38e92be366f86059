"""Code generation: a statement goes in, a program comes out.

The structure of the texts follows the judge specification, section 3, and the teams
specification, section 6; the wording is ours. One difference: stdin problems show no block with a
placeholder comment, because small models hand in the placeholder.
"""

from __future__ import annotations

from lcbgrid.problems.schema import Problem

CONTRACT_HEADING = "## WHAT YOU DELIVER"

_CONTRACT = f"""{CONTRACT_HEADING}
End your reply with one fenced block that starts with ```python and holds the whole program. Only
this block is graded, so it must be there. Keep what stands before it short; if you are not sure,
give the best program you have."""

_REMINDER = "The last thing in your reply is the ```python block with the whole program."

_STDIN_FORMAT = """### How to answer
Write a complete Python program. It reads its input from standard input and prints the answer to
standard output, in exactly the form that the problem asks for and nothing else. Do not build the
sample values into it. Put it between a line ```python and a line ```."""

_FUNCTION_FORMAT = """### How to answer
Complete the starter code. Keep the names and parameters as they are, and return the result instead
of printing it. Put the whole class into a block like this:
```python
{starter_code}
```"""


def user_message(problem: Problem) -> str:
    """Return the task as a team reads it: the statement, then how to answer."""
    if problem.mode == "functional":
        how = _FUNCTION_FORMAT.replace("{starter_code}", problem.starter_code.rstrip())
    else:
        how = _STDIN_FORMAT
    return f"{problem.statement.strip()}\n\n{how}"


def with_contract(role_prompt: str) -> str:
    """Wrap a role prompt with the output contract; outside what an optimizer may edit."""
    if CONTRACT_HEADING in role_prompt:
        return role_prompt
    return f"{_CONTRACT}\n\n{role_prompt}\n\n{_REMINDER}"
