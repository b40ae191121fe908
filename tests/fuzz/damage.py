"""Ways in which files come to harm: bytes lost, doubled, swapped or foreign, files cut or put together."""

from __future__ import annotations

import random
from collections.abc import Callable

PIECES = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\t", b'"', b"'", b"{", b"}", b"[", b"]", b"<",
    b">", b"&", b"\\", b"%", b"$", b",", b";", b"|", b"@", b"TY  - ", b"ER  - ", b"PMID- ", b"@misc{", b"}{",
    b"</", b"<![CDATA[", b"&#x0;", b"\\u0000", b"\\ud800", b"\xe2\x80\xa8", b"\xc3", b"10.1000/", b"nan",
    b"9" * 30, b"A" * 3000, b" " * 3000, b"(" * 200, b"\\textbf{" * 50, b"<i>" * 100, b"[" * 300,
)  # fmt: skip

Damage = Callable[[bytes, random.Random], bytes]


def _span(data: bytes, dice: random.Random, longest: int = 60) -> tuple[int, int]:
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + dice.randrange(longest))


def delete(data: bytes, dice: random.Random) -> bytes:
    start, end = _span(data, dice)
    return data[:start] + data[end:]


def double(data: bytes, dice: random.Random) -> bytes:
    start, end = _span(data, dice)
    return data[:end] + data[start:end] * dice.randrange(1, 4) + data[end:]


def insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(PIECES) + data[at:]


def overwrite(data: bytes, dice: random.Random) -> bytes:
    start, end = _span(data, dice, 8)
    return data[:start] + dice.randbytes(end - start) + data[end:]


def cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def swap_lines(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def drop_line_ends(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    return b"\n".join(lines[:at]) + b"\n".join(lines[at:])


def append_itself(data: bytes, dice: random.Random) -> bytes:
    return data + dice.choice([b"", b"\n", b"\xef\xbb\xbf", b"\x00"]) + data


def recode(data: bytes, dice: random.Random) -> bytes:
    encoding = dice.choice(["cp1252", "utf-16", "utf-16-be", "cp1250", "mac_roman", "utf-8-sig", "gb18030"])
    return data.decode("utf-8", "replace").encode(encoding, "replace")


def end_lines_otherwise(data: bytes, dice: random.Random) -> bytes:
    return data.replace(b"\n", dice.choice([b"\r", b"\r\n", b"\r\r\n"]))


DAMAGES: tuple[Damage, ...] = (
    delete, double, insert, insert, overwrite, cut, swap_lines, drop_line_ends, append_itself, recode,
    end_lines_otherwise,
)  # fmt: skip


def damage(data: bytes, dice: random.Random) -> bytes:
    """The file with one to five damages."""
    for _ in range(dice.randrange(1, 6)):
        data = dice.choice(DAMAGES)(data, dice)
    return data


def encode_otherwise(data: bytes, dice: random.Random) -> bytes:
    """In another encoding that has all its letters."""
    encoding = dice.choice(["cp1252", "utf-16", "utf-16-be", "utf-8-sig", "mac_roman"])
    try:
        return data.decode().encode(encoding)
    except UnicodeEncodeError:  # a byte order mark between records
        return data


def insert_a_line(data: bytes, dice: random.Random) -> bytes:
    """With a line that belongs to no record."""
    lines = data.split(b"\n")
    lines.insert(dice.randrange(len(lines) + 1), dice.choice([b"", b"found by hand", b"%", b"\xef\xbb\xbf"]))
    return b"\n".join(lines)


HANDLING: tuple[Damage, ...] = (append_itself, end_lines_otherwise, insert_a_line)


def handle(data: bytes, dice: random.Random) -> bytes:
    """The file after it went through careless hands, which spoils no record."""
    for _ in range(dice.randrange(1, 4)):
        data = dice.choice(HANDLING)(data, dice)
    return encode_otherwise(data, dice) if dice.random() < 0.3 else data
