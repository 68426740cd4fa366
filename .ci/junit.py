"""The results of a deployment as JUnit: `python .ci/junit.py artifacts` reads the steps and writes junit.xml there.

A step is a test suite; each finding, check or row of its JSON result is a test case, and so is its exit code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree


def main(folder: Path) -> None:
    """Write junit.xml for the steps so far, and say what the last one said no to."""
    suites = ElementTree.Element("testsuites", name="kcluster deploy-staging")
    for line in (folder / "steps.tsv").read_text().splitlines():
        word, code, began, ended = line.split("\t")
        suites.append(_suite(folder, word, int(code), float(ended) - float(began)))
    ElementTree.indent(suites)
    ElementTree.ElementTree(suites).write(folder / "junit.xml", encoding="utf-8", xml_declaration=True)
    for case in suites[-1]:
        if case.find("failure") is not None:
            print(f"no: {case.attrib['name']}")


def _suite(folder: Path, word: str, code: int, seconds: float) -> ElementTree.Element:
    cases = [_verdict(folder, word, code, seconds), *_details(word, _result(folder / f"{word}.json"))]
    failed = sum(case.find("failure") is not None for case in cases)
    suite = ElementTree.Element(
        "testsuite", name=word, tests=str(len(cases)), failures=str(failed), time=f"{seconds:.2f}"
    )
    suite.extend(cases)
    return suite


def _verdict(folder: Path, word: str, code: int, seconds: float) -> ElementTree.Element:
    result = _result(folder / f"{word}.json")
    problems = "\n".join(map(str, result.get("problems") or ())) if isinstance(result, dict) else ""
    said = f"{problems}\n{(folder / f'{word}.log').read_text(errors='replace')}".strip()
    case = _case(word, f"kcluster {word}", f"exit code {code}: {said}" if code else "")
    case.set("time", f"{seconds:.2f}")
    return case


def _details(word: str, result: Any) -> Iterator[ElementTree.Element]:
    """What the result lists: checks of hosts, findings in the inventory."""
    lists = [result.get(name) or () for name in ("checks", "findings")] if isinstance(result, dict) else []
    for entry in (entry for entries in lists for entry in entries if isinstance(entry, dict)):
        words = ("host", "subject", "id", "name", "message", "found", "detail")
        name = " ".join(str(entry[key]) for key in words if entry.get(key))
        bad = entry.get("ok") is False or (entry.get("ok") is None and entry.get("severity") == "error")
        yield _case(word, name, json.dumps(entry, ensure_ascii=False) if bad else "")


def _case(word: str, name: str, failure: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=f"kcluster.{word}", name=name)
    if failure:
        first = next(line for line in failure.splitlines() if line)
        ElementTree.SubElement(case, "failure", message=first).text = failure
    return case


def _result(file: Path) -> Any:
    """The JSON result of a step; a step that ended with an error has printed none."""
    text = file.read_text()
    return json.loads(text) if text.strip() else None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
