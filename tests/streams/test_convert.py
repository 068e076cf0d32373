"""Converters on the published bytes.

Most upstream files can be rebuilt, byte for byte, from the converted ones: that their checksum
is the published one proves it. So the converters are tested on the real thing without a network.
Where the header of an upstream file is not known, only its rows are real.
"""

import gzip
import hashlib
import io
import tarfile
from dataclasses import replace

import pytest

from dfop.streams import DataError, Upstream, catalogue
from dfop.streams.convert import convert
from dfop.streams.download import check_upstream

SEA = (
    "@relation sea\n\n@attribute at1 numeric\n@attribute at2 numeric\n@attribute at3 numeric\n"
    "%class\n@attribute cl {0,1}\n\n@data\n\n"
)
HYPERPLANE = (
    "@relation stream\n"
    + "".join(f"@attribute attr{i}\t numeric\n" for i in range(10))
    + "@attribute output\t{0,1}\n\n@data\n"
)
HOURS = ",".join(map(str, range(24)))
POWER = (
    "%\n@relation power_supply\n\n@attribute attribute0 Numeric\n@attribute attribute1 Numeric\n"
    f"@attribute class {{{HOURS}}}\n\n@data\n"
)


def table(rows):
    """Columns as MATLAB writes them under Windows: 6.6311319e-001."""

    def cell(text):
        digits, exponent = f"{float(text):.7e}".split("e")
        return f"  {digits}e{exponent[0]}{exponent[1:]:0>3}"

    return "".join("".join(map(cell, row.split(","))) + "\n" for row in rows)


def plain(rows):
    return ["\n".join(rows) + "\n"]


def without_last_newline(rows):
    return ["\n".join(rows)]


def windows(text):
    return text.replace("\n", "\r\n")


def power(rows):
    rows = list(rows)
    rows[22_202] += ","  # the stray comma of the published file
    return [POWER + "\n".join(rows)]


def weather(rows):
    cells = [row.rpartition(",") for row in rows]
    return ["".join(c[part] + "\n" for c in cells) for part in (0, 2)]


REBUILD = {
    **dict.fromkeys(["1cdt", "1cht", "2cht", "ug-2c-2d", "mg-2c-2d", "g-2c-2d"], plain),
    **dict.fromkeys(["2cdt", "1csurr", "spam"], without_last_newline),
    "chess": lambda rows: ["at1,at2,at3,at4,at5,at6,at7,at8,target\n" + "\n".join(rows) + "\n"],
    **dict.fromkeys(
        ["sea", *(f"sea-holdout-{i}" for i in range(1, 5))],
        lambda rows: [windows(SEA + "\n".join(rows) + "\n")],
    ),
    "hyperplane": lambda rows: [
        HYPERPLANE + "\n".join(rows[i : i + 10_000]) + "\n" for i in range(0, 90_000, 10_000)
    ],
    "weather": weather,
    "powersupply": power,
    "sru": lambda rows: [
        windows("\tSRU Scaled data (u1,u2,u3,u4,u5,y1,y2)\n\n\n\n" + table(rows) + "\n")
    ],
    "debutanizer": lambda rows: [windows(" \n\n\n\n" + table(rows))],
}
HEADER_UNKNOWN = ["electricity", "luxembourg", "usenet-1", "usenet-2"]


def rows_of(entry, data):
    with gzip.open(data / entry.file, "rt", encoding="utf-8", newline="") as file:
        return file.read().split("\n")[1:-1]


def converted_sha256(entry, paths):
    return hashlib.sha256("".join(convert(entry, paths)).encode()).hexdigest()


@pytest.mark.parametrize("name", REBUILD)
def test_a_published_file_converts_to_the_published_content(data, tmp_path, name):
    entry = catalogue()[name]
    texts = REBUILD[name](rows_of(entry, data))
    paths = [tmp_path / f"{i}-{file.filename}" for i, file in enumerate(entry.upstream)]
    for path, text, file in zip(paths, texts, entry.upstream, strict=True):
        path.write_bytes(text.encode())
        check_upstream(file, path)
        assert path.stat().st_size == file.bytes
    assert converted_sha256(entry, paths) == entry.csv_sha256


@pytest.mark.parametrize("name", HEADER_UNKNOWN)
def test_published_rows_under_a_made_up_header_convert_to_the_published_content(
    data, tmp_path, name
):
    entry = catalogue()[name]
    header = "@relation r\n" + "".join(f"@attribute {c} real\n" for c in entry.columns) + "@data\n"
    path = tmp_path / entry.upstream[0].filename
    path.write_text(header + "\n".join(rows_of(entry, data)) + "\n")
    assert converted_sha256(entry, [path]) == entry.csv_sha256


def packed(path, text):
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("UG_2C_5D.arff")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_the_scale_of_ug_2c_5d_is_undone_exactly(data, tmp_path):
    """Scaled to [0, 1] with six decimals and back: the values return to their digits."""
    rows = rows_of(catalogue()["ug-2c-5d"], data)[::5]
    entry = small("ug-2c-5d", len(rows))
    offsets = (-3.5821, -4.3389, -5.2566, -5.5878, -5.2966)
    ranges = (18.5071, 21.1179, 19.0716, 20.4308, 18.2486)
    lines = [
        "@relation r\n",
        *(f"@attribute a{i} numeric\n" for i in range(5)),
        "@attribute class {0,1}\n@data\n",
    ]
    for row in rows:
        *cells, label = row.split(",")
        scaled = [
            f"{(float(x) - m) / r:.6f}" for x, m, r in zip(cells, offsets, ranges, strict=True)
        ]
        lines.append(",".join([*scaled, str(int(label) - 1)]) + "\n")
    path = packed(tmp_path / "UG_2C_5D.arff.tar.gz", "".join(lines))
    assert [line.rstrip("\n") for line in convert(entry, [path])][1:] == rows


def small(name, rows, columns=None):
    entry = catalogue()[name]
    return replace(entry, rows=rows, columns=columns or entry.columns)


def test_wrong_shapes_are_refused_by_file_and_row(tmp_path):
    path = tmp_path / "1CDT.txt"
    path.write_text("1,2,1\n3,4\n")
    with pytest.raises(DataError, match=r"1CDT\.txt, row 2: 2 cells instead of 3"):
        list(convert(small("1cdt", 2), [path]))
    path.write_text("1,2,1\n")
    with pytest.raises(DataError, match=r"1CDT\.txt: 1 rows instead of 2"):
        list(convert(small("1cdt", 2), [path]))
    path.write_bytes(b"1,2,\xff\n")
    with pytest.raises(DataError, match=r"1CDT\.txt: not UTF-8"):
        list(convert(small("1cdt", 1), [path]))


def test_files_side_by_side_must_have_the_same_rows(tmp_path):
    left, right = tmp_path / "data.csv", tmp_path / "class.csv"
    left.write_text("1,2\n3,4\n")
    right.write_text("0\n")
    with pytest.raises(DataError, match="number of rows"):
        list(convert(small("weather", 2, ("a", "b", "y")), [left, right]))


def test_an_archive_without_its_file_is_refused(tmp_path):
    path = tmp_path / "x.tar.gz"
    with tarfile.open(path, "w:gz"):
        pass
    with pytest.raises(DataError, match="0 ARFF files"):
        list(convert(catalogue()["ug-2c-5d"], [path]))


def test_a_git_hash_is_that_of_git(tmp_path):
    """`git hash-object` of a file that holds "hello" and a newline."""
    path = tmp_path / "hello.txt"
    path.write_text("hello\n")
    known = "ce013625030ba8dba906f756967f9e9ca394464a"
    check_upstream(Upstream("https://example.org/hello.txt", git_blob_sha1=known), path)
    path.write_text("hello")
    with pytest.raises(DataError, match=r"hello\.txt: the git blob SHA-1 is"):
        check_upstream(Upstream("https://example.org/hello.txt", git_blob_sha1=known), path)
