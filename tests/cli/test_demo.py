"""The command line: what a newcomer runs first."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from dfop.cli import app, demo


def test_dfop_follows_where_plain_rls_does_not():
    result = demo.run(*demo.make_stream())
    plain, ours, automatic = result.errors.values()
    for followed in ours, automatic:
        assert np.mean(followed[-1000:]) < 1.2 * demo.NOISE**2
        assert np.mean(plain[-1000:]) > 10 * np.mean(followed[-1000:])
    assert np.mean(automatic) < np.mean(ours)  # nobody told it the mu


def test_the_command_shows_numbers_and_saves_a_picture(tmp_path):
    path = tmp_path / "picture.png"
    outcome = CliRunner().invoke(app, ["demo", "--plot", str(path)])
    assert outcome.exit_code == 0, outcome.output
    assert "plain RLS" in outcome.output
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_packages_the_command_says_what_to_install(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = ['demo', '--help']; "
        "from dfop.__main__ import main; main()"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert outcome.returncode == 1
    assert "pip install 'dfop[cli,plot]'" in outcome.stderr


def test_the_package_needs_none_of_its_extras():
    blocked = ["pandas", "river", "matplotlib", "typer", "rich", "pooch", "pyarrow", "polars"]
    code = f"import sys; sys.modules.update(dict.fromkeys({blocked!r})); from dfop import *"
    subprocess.run([sys.executable, "-c", code], check=True)
