"""Extraction, table-driven: what a reply says, and the program that is taken from it."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.scenarios.extract import defines, extract, is_program, official_code, strip_thinking

F = "```"
SOLUTION = "class Solution:\n    def solve(self, n):\n        return n"


class Example(NamedTuple):
    text: str
    code: str | None
    method: str
    truncated: bool = False
    fn_name: str | None = None


EXAMPLES = {
    # The worked examples of the teams specification, 7.4, with the listed defects mended.
    "last of two": Example(
        f"First try\n{F}python\nk = 1\n{F}\nBetter\n{F}python\nk = 2\n{F}", "k = 2", "labelled"
    ),
    "short label, upper case": Example(f"{F}PY\nprint(3)\n{F}", "print(3)", "labelled"),
    "python3": Example(f"{F}python3\nprint(4)\n{F}", "print(4)", "labelled"),
    "bare": Example(f"Answer:\n{F}\nprint(5)\n{F}", "print(5)", "bare"),
    "label beats a later bare block": Example(
        f"{F}python\nprint(6)\n{F}\nsample run\n{F}\nx = 7\n{F}", "print(6)", "labelled"
    ),
    "last does not parse": Example(
        f"{F}python\nprint(8)\n{F}\nrevised\n{F}python\nprint(9\n{F}", "print(8)", "labelled"
    ),
    "last is blank": Example(
        f"{F}python\nprint(10)\n{F}\n{F}python\n   \n{F}", "print(10)", "labelled"
    ),
    "report block first": Example(
        f'{F}json\n{{"status": "completed"}}\n{F}\n{F}python\nprint(11)\n{F}',
        "print(11)",
        "labelled",
    ),
    "program that starts with a bracket": Example(
        f"{F}python\n[print(i) for i in range(3)]\n{F}",
        "[print(i) for i in range(3)]",
        "labelled",
    ),
    "unterminated": Example(f"{F}python\nprint(12)\n", "print(12)", "unterminated", True),
    "complete block before an unterminated one": Example(
        f"{F}python\nprint(13)\n{F}\nnow better\n{F}python\nprint(14)\n",
        "print(13)",
        "labelled",
        True,
    ),
    "a lone word": Example(f"{F}\nDone\n{F}", None, "none"),
    "prose in a fence": Example(f"{F}\nall tests pass now\n{F}", None, "none"),
    "on one line": Example(f"{F}python print(15){F}", "print(15)", "inline"),
    "attribute after the label": Example(
        f"{F}python title=sol.py\nprint(16)\n{F}", "print(16)", "labelled"
    ),
    "fence inside a docstring": Example(
        f'{F}python\ndef f():\n    """\n{F}\ndemo\n{F}\n    """\nprint(f())\n{F}',
        f'def f():\n    """\n{F}\ndemo\n{F}\n    """\nprint(f())',
        "nested_fence",
    ),
    "text between two blocks": Example(
        f"{F}text\nhello\n{F}\ny = 18\n{F}text\nbye\n{F}", None, "none"
    ),
    "program only in the thinking": Example(
        f"<think>\n{F}python\nprint('idea')\n{F}\n</think>\nNo code.", None, "none"
    ),
    "last closing tag wins": Example(
        f"a</think>\n{F}python\nprint(21)\n{F}\n</THINK> tail", None, "none"
    ),
    "thinking then program": Example(
        f"<think>hm</think>\n{F}python\nprint(1)\n{F}", "print(1)", "labelled"
    ),
    "closing tag without opening": Example(
        f"hm</think>{F}\nx\n{F}\n{F}python\nprint(2)\n{F}", "print(2)", "labelled"
    ),
    "thinking never closed": Example(f"<think>\n{F}python\nprint(1)\n{F}", None, "none", True),
    "program, then thinking never closed": Example(
        f"{F}python\nprint(1)\n{F}\n<think> wait", "print(1)", "labelled", True
    ),
    "empty body": Example(
        f"{F}python\nclass Solution:\n    def go(self, n):\n        \n{F}", None, "unparsable"
    ),
    "stop word after the block": Example(
        f"{F}python\nprint(22)\n{F}\nTERMINATE", "print(22)", "labelled"
    ),
    "stop word as a string": Example(
        f"{F}python\nprint('TERMINATE')\n{F}", "print('TERMINATE')", "labelled"
    ),
    "indented block": Example(
        f"1. do\n   {F}python\n   a = 1\n   print(a)\n   {F}", "a = 1\nprint(a)", "labelled"
    ),
    "carriage returns": Example(f"{F}python\r\nprint(26)\r\n{F}", "print(26)", "labelled"),
    "later data block": Example(f'{F}\nprint(28)\n{F}\n{F}\n{{"a": 1}}\n{F}', "print(28)", "bare"),
    "blank lines after the label": Example(
        f"{F}python   \n\n\nprint(27)\n{F}", "print(27)", "labelled"
    ),
    # Users' reports: R26, R28, R29 and relatives.
    "lone closing fence": Example(
        f"def f():\n    return 1\n{F}", "def f():\n    return 1", "lone_fence"
    ),
    "opening fence only": Example(
        f"{F}python\ndef f():\n    return 1", "def f():\n    return 1", "unterminated", True
    ),
    "opening fence only, bare": Example(f"Here:\n{F}\nprint(1)", "print(1)", "unterminated", True),
    "usage example last": Example(
        f"{F}python\n{SOLUTION}\n{F}\nExample\n{F}python\nSolution().solve(3)\n{F}",
        SOLUTION,
        "labelled",
        fn_name="solve",
    ),
    "entry point in a bare block beats a labelled example": Example(
        f"{F}\n{SOLUTION}\n{F}\nExample\n{F}python\nSolution().solve(3)\n{F}",
        SOLUTION,
        "bare",
        fn_name="solve",
    ),
    "nobody defines the entry point": Example(
        f"{F}python\ndef other(n):\n    return n\n{F}",
        "def other(n):\n    return n",
        "labelled",
        fn_name="solve",
    ),
    "entry point as a plain function": Example(
        f"{F}python\ndef solve(n):\n    return n\n{F}\n{F}python\nprint(solve(1))\n{F}",
        "def solve(n):\n    return n",
        "labelled",
        fn_name="solve",
    ),
    "cut in the middle of a line": Example(
        f"{F}python\nimport sys\nprint(sum(ma", None, "none", True
    ),
    "cut in the middle, complete one before": Example(
        f"{F}python\nprint(1)\n{F}\nOr:\n{F}python\nprint(su", "print(1)", "labelled", True
    ),
    # Fences of other kinds.
    "tilde fence": Example("~~~python\nprint(1)\n~~~", "print(1)", "labelled"),
    "four backticks": Example(
        f"````python\ns = '''\n{F}\n'''\nprint(s)\n````",
        f"s = '''\n{F}\n'''\nprint(s)",
        "labelled",
    ),
    "braces around the label": Example(f"{F}{{python}}\nprint(1)\n{F}", "print(1)", "labelled"),
    "dot before the label": Example(f"{F}{{.python}}\nprint(1)\n{F}", "print(1)", "labelled"),
    "space before the label": Example(f"{F} python\nprint(1)\n{F}", "print(1)", "labelled"),
    "second block opened without closing the first": Example(
        f"{F}python\nprint(\n{F}python\nprint(2)\n{F}", "print(2)", "labelled"
    ),
    "other languages are no Python": Example(f"{F}cpp\nint main() {{}}\n{F}", None, "none"),
    "shell block after the program": Example(
        f"{F}python\nprint(1)\n{F}\n{F}bash\npython a.py\n{F}", "print(1)", "labelled"
    ),
    "output block after the program": Example(
        f"{F}python\nprint(1)\n{F}\nOutput:\n{F}\n1\n{F}", "print(1)", "labelled"
    ),
    "fence behind text on its line": Example(
        f"Here it is: {F}python\nprint(1)\n{F}", "print(1)", "labelled"
    ),
    "closing fence behind the last line": Example(
        f"{F}python\nx = 1\nprint(x){F}\nDone.", "x = 1\nprint(x)", "labelled"
    ),
    # No fences, or nothing to take.
    "whole reply is a program": Example(
        "n = int(input())\nprint(n)", "n = int(input())\nprint(n)", "whole_text"
    ),
    "prose": Example("I think the answer is to sort.", None, "none"),
    "one word": Example("Yes", None, "none"),
    "a number": Example("42", None, "none"),
    "empty": Example("", None, "none"),
    "blank": Example("  \n ", None, "none"),
    "comment only": Example(f"{F}python\n# YOUR CODE HERE\n{F}", None, "unparsable"),
    "docstring only": Example(f'{F}python\n"""todo"""\n{F}', None, "unparsable"),
    "pass only": Example(f"{F}python\npass\n{F}", None, "unparsable"),
    "data only": Example(f"{F}python\n[1, -2, 3]\n{F}", None, "unparsable"),
    "nothing parses": Example(f"{F}python\nprint(1\n{F}", None, "unparsable"),
    "null bytes": Example(f"{F}python\nprint('\0')\n{F}", None, "unparsable"),
    # What a program may hold.
    "bad escape is no warning": Example(
        f"{F}python\nprint('\\d')\n{F}", "print('\\d')", "labelled"
    ),
    "unicode separators stay": Example(
        f"{F}python\nprint('a\u2028b\x85c')\n{F}", "print('a\u2028b\x85c')", "labelled"
    ),
    "leading blank lines of the block go, indentation stays": Example(
        f"{F}python\n\nif True:\n    print(1)\n\n{F}", "if True:\n    print(1)", "labelled"
    ),
    "form feed": Example(
        f"{F}python\nx = 1\n\f\nprint(x)\n{F}", "x = 1\n\f\nprint(x)", "labelled"
    ),
}


def test_there_are_sixty_examples() -> None:
    assert len(EXAMPLES) >= 60


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=list(EXAMPLES))
def test_program_taken(example: Example) -> None:
    found = extract(example.text, fn_name=example.fn_name)
    assert (found.code, found.method, found.truncated) == (
        example.code,
        example.method,
        example.truncated,
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{F}python" + " " * 200_000,
        f"{F}python\nx = (\n{F}\n" * 3000,
        f"{F}python x" * 5000,
        "<think>" * 20_000,
        f"{F}\n" * 20_000,
        "`" * 200_000,
    ],
)
def test_no_reply_takes_long(text: str) -> None:
    """Ends at all: each of these took minutes with a careless pattern."""
    assert extract(text, fn_name="f").code is None


def test_none_counts_as_empty() -> None:
    assert extract(None).code is None


def test_official_choice_is_kept_when_it_differs() -> None:
    text = f"{F}python\n{SOLUTION}\n{F}\nExample\n{F}python\nSolution().solve(3)\n{F}"
    assert extract(text, fn_name="solve").official_code == "Solution().solve(3)"


def test_official_choice_is_left_out_when_it_agrees() -> None:
    assert extract(f"{F}python\nprint(1)\n{F}").official_code is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"a\n{F}\nb\n{F}", "b"),
        (f"{F}python\nprint(1)", ""),
        (f"{F}\nx\n{F}\nsee {F}y{F} here", "see"),
        ("nothing", ""),
    ],
)
def test_official_rule(text: str, code: str) -> None:
    # Judge specification, section 4: a line with an inline fence is a fence line, too.
    assert official_code(text) == ("" if code == "see" else code)


def test_thinking_in_capitals() -> None:
    assert strip_thinking("<THINK>a</Think>b") == ("b", False)


@pytest.mark.parametrize(
    "code", ["x = 1", "f()", "import sys", "x: int", "del a", "[f(i) for i in a]"]
)
def test_programs(code: str) -> None:
    assert is_program(code)


@pytest.mark.parametrize("code", ["", "# a", "x", "1", "(1, 2)", "{'a': [1]}", "'s'", "-1", "x ="])
def test_no_programs(code: str) -> None:
    assert not is_program(code)


def test_entry_point_only_counts_where_it_can_be_called() -> None:
    assert defines("class A:\n    def go(self): pass", "go")
    assert not defines("def outer():\n    def go(): pass", "go")


@given(st.text())
def test_never_fails(text: str) -> None:
    extract(text, fn_name="f")


@given(
    st.lists(st.sampled_from([f"{F}\n", f"{F}python\n", "print(1)\n", "~~~\n", "x\n", "<think>"]))
)
def test_what_is_taken_is_a_program(parts: list[str]) -> None:
    code = extract("".join(parts)).code
    assert code is None or is_program(code)


@given(st.sampled_from(["print(1)", "n = int(input())\nprint(n)", SOLUTION]), st.text("abc \n."))
def test_fenced_program_survives_prose(code: str, prose: str) -> None:
    assert extract(f"{prose}\n{F}python\n{code}\n{F}\n{prose}").code == code
