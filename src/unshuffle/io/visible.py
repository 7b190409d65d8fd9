"""Text from files as a terminal may show it: a name must not be able to command the terminal."""

import re

MOST_LETTERS = 700  # of a message; names in it may be of any length
UNDECODED = range(0xDC80, 0xDD00)  # how Python keeps the bytes of a file name that are not UTF-8


def visible(text: str) -> str:
    r"""Replace characters that show nothing, or that command a terminal, by their escapes.

    Examples
    --------
    >>> from unshuffle.io.visible import visible
    >>> visible("red\x1b[31m\n")
    'red\\x1b[31m\\n'
    """
    return text if text.isprintable() else "".join(map(_escape, text))


def visible_lines(text: str) -> str:
    """The same, but line ends stay."""
    return "\n".join(visible(line) for line in text.split("\n"))


def visible_json(text: str) -> str:
    """A JSON document with escapes that JSON knows; it means the same."""
    return re.sub(r"[^\n]+", lambda line: _json_line(line[0]), text)


def shorten_message(text: str) -> str:
    """A message in one line, without its middle where it is too long."""
    if len(text) <= MOST_LETTERS:
        return text
    half = MOST_LETTERS // 2
    return f"{text[:half]} ... {text[-half:]}"


def _escape(letter: str) -> str:
    if letter.isprintable():
        return letter
    if ord(letter) in UNDECODED:
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode()


def _json_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else _json_escape(c) for c in line)


def _json_escape(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[k : k + 2].hex() for k in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs)
