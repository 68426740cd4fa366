"""Makes the tables of properties of what a release's classes print: python -m kcluster.releases.tables VERSION..."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from kcluster import show
from kcluster.config import property_tables
from kcluster.errors import KclusterError
from kcluster.model.release import Release
from kcluster.releases.fetch import fetch

_CLASSES = {"broker": "kafka.server.KafkaConfig", "topic": "org.apache.kafka.storage.internals.log.LogConfig"}
_DATA = Path(property_tables.__file__).parent / "property_data"

Row = list[str | None]


def read(home: Path) -> dict[str, dict[str, Row]]:
    """The tables of a release, by running its classes."""
    return {part: dict(rows(_printed(home, java_class))) for part, java_class in _CLASSES.items()}


def rows(page: str) -> Iterator[tuple[str, Row]]:
    """The properties on a page as ConfigDef.toHtml makes it."""
    for block in page.split("<h4>")[1:]:
        name = re.findall(r'<a id="([^"]+)">', block)[0]
        described = re.search(r"</h4>\s*<p>(.*?)</p>\s*<table>", block, re.S)
        cells = {key: _plain(value) for key, value in re.findall(r"<th>(.*?):</th><td>(.*?)</td>", block, re.S)}
        row: Row = [
            cells["Type"],
            _default(cells["Default"], cells["Type"]),
            cells["Valid Values"],
            cells["Importance"],
            cells.get("Update Mode", ""),
            _plain(described[1]) if described else "",
        ]
        server_default = cells.get("Server Default Property", "")
        yield name, [*row, server_default] if server_default not in ("", "null") else row


def text(tables: dict[str, dict[str, Row]]) -> str:
    """The packaged form: one line for each property, so that a difference can be read."""
    parts = []
    for part, table in tables.items():
        lines = [f"{json.dumps(name)}: {json.dumps(table[name], ensure_ascii=False)}" for name in sorted(table)]
        parts.append(f'"{part}": {{\n' + ",\n".join(lines) + "\n}")
    return "{" + ",\n".join(parts) + "}\n"


def packaged(release: Release) -> Path:
    """The file of a release's line: 3.9.1 and 3.9.2 share one, made from the newest."""
    return _DATA / f"{'.'.join(map(str, release.numbers[:2]))}.json"


def main(versions: list[str]) -> int:
    """Make the tables anew."""
    try:
        for version in versions:
            release = Release(version)
            packaged(release).write_text(text(read(fetch(release, show.progress))))
            show.progress(f"wrote {packaged(release)}")
    except KclusterError as problem:
        show.error(problem)
        return problem.exit_code
    return 0


def _printed(home: Path, java_class: str) -> str:
    script = home / "bin" / "kafka-run-class.sh"
    return subprocess.run([script, java_class], check=True, capture_output=True, text=True).stdout


def _plain(markup: str) -> str:
    """Text without tags, on one line."""
    spaced = re.sub(r"<(br|p|li|ul)\b[^>]*>", " ", markup)
    return " ".join(html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", spaced)).split())


def _default(shown: str, kind: str) -> str | None:
    """The default as one would write it: without quotes, and without "(7 days)" behind a number."""
    if shown in ("", "null"):
        return None
    return re.sub(r" \(.*\)$", "", shown) if kind in ("int", "long") else shown.strip('"')


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
