"""From events to one error: what comes first, and what it is."""

from __future__ import annotations

import json

from kcluster.clients.ansible.events import Event, TaskStatus, failure
from kcluster.errors import ApplyError, UnreachableError


def event(host: str, status: TaskStatus, message: str = "") -> Event:
    return Event(host, "Do it", status, message)


def test_a_line_is_read_as_it_is_written() -> None:
    line = {"host": "a", "task": "t", "status": "ok", "message": "", "diff": "", "facts": {"x": 1}, "time": 2.5}
    assert Event.parse(json.dumps(line)) == Event("a", "t", TaskStatus.OK, facts={"x": 1}, time=2.5)


def test_nothing_wrong_is_no_error() -> None:
    assert failure([event("a", TaskStatus.OK), event("b", TaskStatus.CHANGED), event("c", TaskStatus.SKIPPED)]) is None


def test_an_unreachable_host_comes_before_a_failed_task_and_both_are_told() -> None:
    problem = failure([event("a", TaskStatus.FAILED, "no Java"), event("b", TaskStatus.UNREACHABLE, "timed out")])
    assert isinstance(problem, UnreachableError)
    assert problem.message == "b cannot be reached: timed out"
    assert problem.details == "a: Do it: no Java"


def test_what_ansible_writes_around_the_reason_of_a_lost_host_is_left_out() -> None:
    said = (
        'Task failed: Data could not be sent to remote host "10.0.0.1". Make sure this host can be reached over ssh: '
    )
    problem = failure([event("b", TaskStatus.UNREACHABLE, said)])
    assert problem
    assert problem.message == 'b cannot be reached: Data could not be sent to remote host "10.0.0.1".'


def test_the_rest_of_a_message_and_other_hosts_are_details() -> None:
    problem = failure(
        [event("a", TaskStatus.FAILED, "no Java\nfound 8\ntry: apt"), event("b", TaskStatus.FAILED, "no disk")]
    )
    assert isinstance(problem, ApplyError)
    assert (problem.message, problem.details) == ("a: Do it: no Java", "found 8\nb: Do it: no disk")
    assert problem.resolution == "apt"


def test_a_host_without_python_is_told_what_to_do() -> None:
    problem = failure([event("a", TaskStatus.FAILED, "The module interpreter '/usr/bin/python3' was not found.")])
    assert problem
    assert problem.resolution == "install python3 there"


def test_sudo_that_wants_a_password_is_a_question_of_reaching_the_host() -> None:
    for said in ("Missing sudo password", "Incorrect sudo password", "sudo: a password is required"):
        problem = failure([event("a", TaskStatus.FAILED, said)])
        assert isinstance(problem, UnreachableError), said
        assert "-K" in problem.resolution
