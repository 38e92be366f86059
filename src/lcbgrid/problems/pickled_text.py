"""Read one pickled text without running the pickle machine.

The data set wraps its hidden tests in a pickle whose payload is one ``str``. A pickle is a
program, and even an ``Unpickler`` whose ``find_class`` raises can be made to allocate tens of
gigabytes (a single ``LONG_BINPUT`` with a large index sizes the memo table). So this reader knows
only the opcodes that wrap a text, in the order in which every protocol writes them, and refuses
all others: no global, call, persistent id, extension code or container is ever looked at.
"""

from __future__ import annotations

import pickle


class PickleRefusedError(ValueError):
    """The pickle is damaged, or holds something other than one text."""


_TEXT_LENGTH_BYTES = {
    pickle.SHORT_BINUNICODE[0]: 1,
    pickle.BINUNICODE[0]: 4,
    pickle.BINUNICODE8[0]: 8,
}
_PROTO, _FRAME = pickle.PROTO[0], pickle.FRAME[0]
_UNICODE_LINE, _STOP = pickle.UNICODE[0], pickle.STOP[0]
_MEMO_ARGUMENT_BYTES = {
    pickle.MEMOIZE[0]: 0,
    pickle.BINPUT[0]: 1,
    pickle.LONG_BINPUT[0]: 4,
}
_PUT_LINE = pickle.PUT[0]


def read_pickled_text(data: bytes) -> str:
    """Return the text that ``data`` is the pickle of (protocols 0 to 5).

    Raises:
        PickleRefusedError: ``data`` is anything else; the message names the refused opcode.
    """
    position = _skip_header(data)
    text, position = _text(data, position)
    position = _skip_memo(data, _skip_frame(data, position))
    position = _skip_frame(data, position)
    if _opcode(data, position) != _STOP:
        raise _refused(data, position)
    if position + 1 != len(data):
        message = f"{len(data) - position - 1} bytes follow the end of the pickle"
        raise PickleRefusedError(message)
    return text


def _opcode(data: bytes, position: int) -> int:
    if position >= len(data):
        raise PickleRefusedError("the pickle is cut off")
    return data[position]


def _skip_header(data: bytes) -> int:
    position = 0
    if _opcode(data, 0) == _PROTO:
        protocol = _opcode(data, 1)
        if protocol > pickle.HIGHEST_PROTOCOL:
            raise PickleRefusedError(f"unknown pickle protocol {protocol}")
        position = 2
    return _skip_frame(data, position)


def _skip_frame(data: bytes, position: int) -> int:
    # A frame only tells how much to read ahead; the bytes are all here, so its length is not used.
    return position + 9 if _opcode(data, position) == _FRAME else position


def _text(data: bytes, position: int) -> tuple[str, int]:
    opcode = _opcode(data, position)
    if opcode == _UNICODE_LINE:
        end = _line_end(data, position)
        return _decode(data[position + 1 : end], "raw-unicode-escape"), end + 1
    width = _TEXT_LENGTH_BYTES.get(opcode)
    if width is None:
        raise _refused(data, position)
    start = position + 1 + width
    length = int.from_bytes(data[position + 1 : start], "little")
    if start + length > len(data):
        raise PickleRefusedError("the pickle is cut off")
    return _decode(data[start : start + length], "utf-8"), start + length


def _decode(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding, "strict" if encoding != "utf-8" else "surrogatepass")
    except UnicodeDecodeError as error:
        raise PickleRefusedError(f"the pickled text is not {encoding}: {error.reason}") from None


def _skip_memo(data: bytes, position: int) -> int:
    opcode = _opcode(data, position)
    if opcode == _PUT_LINE:
        return _line_end(data, position) + 1
    width = _MEMO_ARGUMENT_BYTES.get(opcode)
    return position if width is None else position + 1 + width


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    if end < 0:
        raise PickleRefusedError("the pickle is cut off")
    return end


def _refused(data: bytes, position: int) -> PickleRefusedError:
    import pickletools

    code = data[position : position + 1].decode("latin-1")
    known = pickletools.code2op  # type: ignore[attr-defined]
    name = known[code].name if code in known else f"byte {data[position]:#04x}"
    return PickleRefusedError(f"the pickle holds {name} where only one text is allowed")
