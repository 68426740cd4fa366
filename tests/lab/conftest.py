"""Fixtures for tests on real hosts: the image once, and labs with fresh disks that never outlive the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.lab import Image, Lab, base_image, own_lab
from tests.lab.lab import fresh_name, reap
from tests.lab.machine import check, missing_packages

NewLab = Callable[[int], Lab]


@pytest.fixture(scope="session")
def lab_image() -> Image:
    """The image, made if need be; what a killed run left behind is taken away first."""
    check(os.geteuid(), missing_packages)
    reap()
    return base_image()


@pytest.fixture
def lab(lab_image: Image) -> Iterator[NewLab]:
    """Make a lab of so many hosts, as many labs as wanted: `lab(3)`."""
    with ExitStack() as stack:
        yield lambda size: stack.enter_context(own_lab(fresh_name(), size, lab_image))


@pytest.fixture(scope="module")
def trio(lab_image: Image) -> Iterator[Lab]:
    """Three hosts for all tests of a module: each leaves them up, reachable and on fast links."""
    with own_lab(fresh_name(), 3, lab_image) as lab:
        yield lab
