"""Error texts that may stand in an artifact: no path, no host, no secret, not too long.

Optimizers specification, section 6.8.
"""

from __future__ import annotations

import re

from lcbgrid.core.secrets import mask

MAXIMUM_CHARACTERS = 2000
_URL_HOST = re.compile(r"(?<=://)[^\s/\"'<>]+")
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")
_HOST_WORD = re.compile(r"(?i)(\bhost(?:name)?\s*[=:]\s*['\"]?)[^\s,'\")]+")
_PATH = re.compile(r"(?<![\w/:.])(?:~|[A-Za-z]:)?[/\\](?:[\w.+@\-]+[/\\])+([\w.+@\-]*)")


def scrub(text: str) -> str:
    """Return an error text without secrets, hosts and folders, at most 2,000 characters long.

    The last part of a path stays, because it tells which file was meant.
    """
    text = mask(text[: 4 * MAXIMUM_CHARACTERS])
    text = _URL_HOST.sub("host", text)
    text = _ADDRESS.sub("host", text)
    text = _HOST_WORD.sub(r"\1host", text)
    text = _PATH.sub(r"…/\1", text)
    return text if len(text) <= MAXIMUM_CHARACTERS else text[: MAXIMUM_CHARACTERS - 1] + "…"
