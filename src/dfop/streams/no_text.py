"""Files that are no text in UTF-8, known by their first bytes, and what to do about each."""

from __future__ import annotations

from dfop.streams.errors import DataError

_UNPACK = "Let its name end in {}, or unpack it first"
_CONVERT = "Convert it first: iconv -f {} -t utf-8"
_FIRST_BYTES = {
    b"\x1f\x8b": ("compressed with gzip", _UNPACK.format(".gz")),
    b"BZh91AY&SY": ("compressed with bzip2", _UNPACK.format(".bz2")),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", _UNPACK.format(".zst")),
    b"\xfd7zXZ\0": ("compressed with xz", "Unpack it first"),
    b"PK\x03\x04": ("a ZIP archive or a spreadsheet", "Unpack it, or save the sheet as CSV"),
    b"\xff\xfe": ("text in UTF-16", _CONVERT.format("utf-16")),
    b"\xfe\xff": ("text in UTF-16", _CONVERT.format("utf-16")),
}
_LOOKED_AT = 64


def refuse_no_text(head: bytes, source: str) -> None:
    r"""Refuse what is compressed, packed, in UTF-16 or Parquet where text is expected.

    Examples
    --------
    >>> refuse_no_text(b"size,price\n1,2\n", "a.csv")
    >>> refuse_no_text("size,price\n".encode("utf-16"), "a.csv")
    Traceback (most recent call last):
    ...
    dfop.streams.errors.DataError: a.csv: the file is text in UTF-16. Convert it first: ...
    """
    for first, (what, remedy) in _FIRST_BYTES.items():
        if head.startswith(first):
            raise DataError(f"the file is {what}", source=source, remedy=remedy)
    if head.startswith(b"PAR1") and b"\0" in head[:_LOOKED_AT]:
        remedy = "Let its name end in .parquet, or pass format='parquet'"
        raise DataError("the file is Parquet", source=source, remedy=remedy)
    some = head[:_LOOKED_AT]
    for name, zeros, letters in (
        ("utf-16le", some[1::2], some[::2]),
        ("utf-16be", some[::2], some[1::2]),
    ):
        if zeros and not zeros.strip(b"\0") and b"\0" not in letters:
            remedy = _CONVERT.format(name)
            raise DataError("the file is text in UTF-16", source=source, remedy=remedy)
