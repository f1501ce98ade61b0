"""The characters of files of matches, which may be written in the charset of another country and time.

In Shift_JIS, Big5 and GBK the second byte of a character can be a backslash or a bracket, so a file has to be decoded
before its brackets are read.
"""

import codecs
import re
from contextlib import suppress

from charset_normalizer import from_bytes

NAMED = re.compile(rb"CA\[\s*+([A-Za-z0-9_:.-]{2,40})\s*+\]")
"""The property CA of SGF."""
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""The bytes with which a text may begin, and its charset."""
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "shift_jis": "cp932", "iso8859-1": "cp1252"}
"""Charsets that programs name when they write a wider one."""
ASIAN = ("gb18030", "cp950", "big5hkscs", "cp932", "euc_jp", "euc_kr", "iso2022_jp")
EUROPEAN = ("cp1252", "cp1250", "cp1251", "koi8-r", *(f"iso8859-{number}" for number in (1, 2, 5, 15)))
KNOWN = {codecs.lookup(name).name for name in ("utf-8", "ascii", *WIDER, *ASIAN, *EUROPEAN)}
"""The charsets that a file may name. Other codecs of Python, such as punycode, take very long for some texts."""
SHIFT = b"\x1b$"
"""How a text in ISO-2022-JP begins Japanese characters."""
UNLIKELY = re.compile(
    r"[\uff61-\uff9f]|\\\]|[\u4e00-\u9fff][\uac00-\ud7a3]|[\u0430-\u044f][\u0410-\u042f](?![\u0430-\u044f])"
)
"""What Chinese and Japanese texts have if they are decoded as another charset: characters of half the usual width, the
second byte of a character as a backslash that hides the end of a value, Chinese characters before Korean ones, and
small Cyrillic letters before capitals."""
BROKEN = "\ufffd"
"""What stands for bytes that are not a character."""
FEW = 10
"""A text is in the charset that it names if fewer than a tenth of its characters beyond ASCII are broken, or one of
several."""
SAMPLE = 1 << 16
"""The number of bytes from which a charset is guessed."""


def decoded(content: bytes) -> str:
    """The text of a file: by the mark at its start, as UTF-8, by the charset that it names, or by a likely one if it
    names none or is plainly in another."""
    for mark, charset in MARKS.items():
        if content.startswith(mark):
            return content.decode(charset, errors="replace")
    named = _named(content)
    # A text with the shifts of ISO-2022-JP is valid UTF-8 too.
    for charset in ("iso2022_jp",) * (SHIFT in content) + ("utf-8", *([named] if named else [])):
        with suppress(UnicodeDecodeError):
            return content.decode(charset)
    if named:
        text = content.decode(named, errors="replace")
        broken, foreign = text.count(BROKEN), sum(not character.isascii() for character in text)
        if FEW * broken < foreign or (broken == 1 and foreign > 1):
            return text
    return content.decode(_guessed(content), errors="replace")


def _named(content: bytes) -> str | None:
    """The charset that a text in SGF names; None if it names none that is known."""
    found = NAMED.search(content)
    with suppress(LookupError):
        name = codecs.lookup(found[1].decode()).name if found else ""
        return WIDER.get(name, name) if name in KNOWN else None
    return None


def _guessed(content: bytes) -> str:
    """The most likely charset of a text that is not in UTF-8."""
    foreign = b"\n".join(line for line in content.splitlines() if not line.isascii())[:SAMPLE]
    likely = [match.encoding for match in from_bytes(foreign, cp_isolation=[*ASIAN, *EUROPEAN])]
    return next((charset for charset in (*likely, *ASIAN) if _is_plausible(foreign, charset)), "cp1252")


def _is_plausible(content: bytes, charset: str) -> bool:
    try:
        # The last character of a sample may be cut off.
        return UNLIKELY.search(codecs.getincrementaldecoder(charset)().decode(content)) is None
    except UnicodeDecodeError:
        return False
