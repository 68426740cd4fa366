"""How a package gets into the Python that runs kcluster, with or without pip in it."""

from __future__ import annotations

import sys

import pytest

from kcluster.clients import python_packages


def test_the_pip_of_this_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/home/a b/venv/bin/python")
    assert python_packages.install("pyspark==4.1.3") == "'/home/a b/venv/bin/python' -m pip install pyspark==4.1.3"


def test_an_environment_of_uv_has_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    monkeypatch.setattr(python_packages, "find_spec", lambda _: None)
    assert python_packages.install("pyspark==4.1.3") == "uv pip install --python /venv/bin/python pyspark==4.1.3"


def test_a_damaged_package_is_installed_again_without_its_dependencies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    again = python_packages.install("pyspark==4.1.3", again=True)
    assert again == "/venv/bin/python -m pip install --force-reinstall --no-deps pyspark==4.1.3"
    monkeypatch.setattr(python_packages, "find_spec", lambda _: None)
    again = python_packages.install("pyspark==4.1.3", again=True)
    assert again == "uv pip install --python /venv/bin/python --reinstall --no-deps pyspark==4.1.3"
