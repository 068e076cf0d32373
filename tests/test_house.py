"""The shape of the house: how many rooms, how long a row's way, who knows whose secrets."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dfop
from dfop import DFOPClassifier, DFOPRegressor, river

SRC = Path(dfop.__file__).parent
ROOT = Path(__file__).parents[1]
FILES = sorted(SRC.rglob("*.py"))
MOST_FILES_OF_A_ROW = 8
MOST_AT_THE_TOP = 20
MOST_LAYERS = 10
MOST_LINES = 59


def files_run_by(call):
    """Return which of our Python files run while `call` does."""
    seen = set()

    def look(frame, event, argument):
        if event == "call":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {Path(name).relative_to(SRC).as_posix() for name in seen if name.startswith(f"{SRC}/")}


def rows_of(face, container):
    """Return a model, once it is under way, and one more row of what it learned from."""
    model, names = face(), list("abc")
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, 1, 0)
    first = {"classes": [0, 1]} if face is DFOPClassifier else {}
    make = {
        "array": lambda rows: rows,
        "pandas": lambda rows: pandas.DataFrame(rows, columns=names),
        "polars": lambda rows: polars.DataFrame(rows, schema=names),
        "arrow": lambda rows: pyarrow.table(dict(zip(names, rows.T, strict=True))),
    }[container]
    for t in range(len(X)):  # one of them closes a stride of the monitor
        model.partial_fit(make(X[t : t + 1]), y[t : t + 1], **({} if t else first))
    return model, make(X[:1]), y[:1]


def arrays(face):
    return rows_of(face, "array")


def pandas_frames(face):
    return rows_of(face, "pandas")


def polars_frames(face):
    return rows_of(face, "polars")


def arrow_tables(face):
    return rows_of(face, "arrow")


def late_labels(face):
    """Return a model whose labels come five rows late, and the row whose label comes next."""
    model, X, y = arrays(face)
    for t in range(300):
        model.predict_pending(X, [t])
        if t >= 5:
            model.learn_pending([t - 5], y)
    return model, X, y


def dicts(face):
    model = face()
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = rng.normal(size=2).tolist()
        model.learn_one({"a": a, "b": b}, int(a > 0))
    return model, {"a": 0.5, "b": -0.5}, 1


def predict_pending(model, x, y):
    return model.predict_pending(x, [300])


def learn_pending(model, x, y):
    return model.learn_pending([295], y)


WAYS = {
    "DFOPRegressor.partial_fit": (arrays, DFOPRegressor, lambda m, x, y: m.partial_fit(x, y)),
    "DFOPRegressor.predict": (arrays, DFOPRegressor, lambda m, x, y: m.predict(x)),
    "DFOPClassifier.predict_then_learn": (
        arrays,
        DFOPClassifier,
        lambda m, x, y: m.predict_then_learn(x, y),
    ),
    "DFOPClassifier.predict": (arrays, DFOPClassifier, lambda m, x, y: m.predict(x)),
    "DFOPRegressor.partial_fit, pandas": (
        pandas_frames,
        DFOPRegressor,
        lambda m, x, y: m.partial_fit(x, y),
    ),
    "DFOPClassifier.predict_then_learn, polars": (
        polars_frames,
        DFOPClassifier,
        lambda m, x, y: m.predict_then_learn(x, y),
    ),
    "DFOPRegressor.predict_then_learn, Arrow": (
        arrow_tables,
        DFOPRegressor,
        lambda m, x, y: m.predict_then_learn(x, y),
    ),
    "DFOPClassifier.partial_fit, Arrow": (
        arrow_tables,
        DFOPClassifier,
        lambda m, x, y: m.partial_fit(x, y),
    ),
    "DFOPRegressor.predict_pending": (late_labels, DFOPRegressor, predict_pending),
    "DFOPRegressor.learn_pending": (late_labels, DFOPRegressor, learn_pending),
    "DFOPClassifier.predict_pending": (late_labels, DFOPClassifier, predict_pending),
    "DFOPClassifier.learn_pending": (late_labels, DFOPClassifier, learn_pending),
    "river.DFOPRegressor.learn_one": (
        dicts,
        river.DFOPRegressor,
        lambda m, x, y: m.learn_one(x, y),
    ),
    "river.DFOPRegressor.predict_one": (
        dicts,
        river.DFOPRegressor,
        lambda m, x, y: m.predict_one(x),
    ),
    "river.DFOPClassifier.learn_one": (
        dicts,
        river.DFOPClassifier,
        lambda m, x, y: m.learn_one(x, y),
    ),
    "river.DFOPClassifier.predict_one": (
        dicts,
        river.DFOPClassifier,
        lambda m, x, y: m.predict_one(x),
    ),
}


def written_way(name):
    """Return the files that CONTRIBUTING lists for a call."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    call, _, container = name.partition(", ")
    shown = re.escape(f"`{call}`{container and f', {container}'}")
    line = re.search(rf"^\| {shown} \| (.*) \|$", text, re.MULTILINE)
    assert line, f"CONTRIBUTING.md has no line for {name}"
    return set(re.findall(r"`([\w/]+\.py)`", line[1]))


@pytest.mark.parametrize("name", WAYS)
def test_a_default_row_passes_at_most_eight_python_files(name):
    make, face, call = WAYS[name]
    model, x, y = make(face)
    files = files_run_by(lambda: call(model, x, y))
    print(f"| `{name}` | {', '.join(f'`{file}`' for file in sorted(files))} |")
    assert 1 <= len(files) <= MOST_FILES_OF_A_ROW
    if (ROOT / "CONTRIBUTING.md").exists():
        assert files == written_way(name)


def test_the_house_is_seen_at_a_glance():
    aside = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
    top = [entry.name for entry in SRC.iterdir() if entry.name not in aside]
    assert len(top) <= MOST_AT_THE_TOP, sorted(top)


def test_the_house_has_at_most_ten_layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    house = settings["tool"]["importlinter"]["contracts"][0]
    assert house["containers"] == ["dfop"]
    assert house["exhaustive"]  # every room is in a layer
    assert len(house["layers"]) <= MOST_LAYERS


def code_lines(function):
    """Count the lines of a function without its docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SRC).as_posix())
def test_functions_are_short(file):
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert code_lines(node) <= MOST_LINES, f"{node.name}, line {node.lineno}"


CORE = sorted((ROOT / "src" / "core").glob("*.?pp"))


def blocks_of(text):
    """Return the first line and the number of lines of every block in braces."""
    text = re.sub(r"//.*|\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'", "", text)
    opened, found = [], []
    for number, line in enumerate(text.split("\n")):
        for sign in re.findall(r"[{}]", line):
            if sign == "{":
                opened.append((number, line))
            else:
                first, words = opened.pop()
                found.append((words.strip(), number - first + 1))
    assert not opened
    return found


@pytest.mark.parametrize("file", CORE, ids=lambda file: file.name)
def test_functions_of_the_compiled_part_are_short(file):
    for words, lines in blocks_of(file.read_text("utf-8")):
        if not re.match(r"(namespace|class|struct)\b", words):
            assert lines <= MOST_LINES + 1, words  # a brace of its own is a line more


def test_a_long_function_of_the_compiled_part_is_found():
    short = "int f() {\n" + '    g("}");\n' * 5 + "}\n"
    assert blocks_of(f"namespace n {{\n{short}}}") == [("int f() {", 7), ("namespace n {", 9)]


def private(name):
    return name.startswith("_") and not name.startswith("__")


def names_defined_in(tree):
    """Return the private names that a module gives to its own functions, classes and objects."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names


OF_NAMED_TUPLES = {"_fields", "_replace", "_asdict", "_make"}
KNOWN = {
    # What others keep to themselves and we need; tests hold us to what it does.
    ("baselines/svm.py", "_libsvm"),  # scikit-learn's solver without a millisecond of checks
    ("evaluation/models.py", "_get_params"),  # River has no other way to ask
    ("__main__.py", "_exit"),  # nothing is to be cleaned up, and nothing may be waited for
    ("core/__init__.py", "_native"),  # the compiled module, behind its face
}


def secrets_known_by(file):
    """Return private names of other modules that a module uses."""
    tree = ast.parse(file.read_text("utf-8"))
    mine, found = names_defined_in(tree) | OF_NAMED_TUPLES, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            found |= {part for part in parts if private(part)}
        elif isinstance(node, ast.Import):
            parts = [part for alias in node.names for part in alias.name.split(".")]
            found |= {part for part in parts if private(part)}
        elif isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in mine:
            owner = node.value
            own = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
            parent = isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"
            if not (own or parent):
                found.add(node.attr)
    where = file.relative_to(SRC).as_posix()
    return {name for name in found if (where, name) not in KNOWN}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SRC).as_posix())
def test_no_module_knows_the_private_names_of_another(file):
    assert not secrets_known_by(file)


BY_NAME = {
    "__init__.py",  # each room when it is first asked for
    "__main__.py",  # the command line, or why it cannot be there
    "cli/compare.py",  # models of River that the user names
    "rows/extras.py",  # libraries that need not be there
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SRC).as_posix())
def test_no_import_is_hidden_from_the_check_of_layers(file):
    if not re.search("import_module|__import__", file.read_text("utf-8")):
        return  # who does not write the word does not import so
    names = {getattr(node, "attr", getattr(node, "id", getattr(node, "name", None)))
             for node in ast.walk(ast.parse(file.read_text("utf-8")))}  # fmt: skip
    hidden = names & {"import_module", "__import__"}
    assert not hidden or file.relative_to(SRC).as_posix() in BY_NAME


TEXTS = [
    *FILES,
    *sorted((ROOT / "src" / "core").glob("*")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*.py")),
    *sorted(ROOT.glob("*.md")),
    *(path for path in (ROOT / "Makefile", ROOT / "pyproject.toml") if path.exists()),
]
# A folder that only one machine has; /dev/stdin and the like are everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.:/)}<])/(?:home|root|tmp|work|usr|opt|mnt|Users)/\w|[A-Z]:\\\w")


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_no_path_of_a_machine_is_written_anywhere(file):
    found = MACHINE_PATH.search(file.read_text("utf-8"))
    assert not found, found[0]
