"""A folder of the sink or the checkpoint, on any file system that Spark supports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from spark_jobs.runtime import durable
from spark_jobs.runtime.error_causes import RefusedJobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MISSING_FILE_ADVICE = (
    "it was removed by another job or by hand: restore it, or start over with a new checkpoint and a new sink.path"
)


class Folder:
    """A folder through Hadoop's FileSystem; all names are relative to it."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path = path
        self._jvm = cast("Any", spark._jvm)
        self._hadoop = self._jvm.org.apache.hadoop.fs
        self._files = self._at("").getFileSystem(spark._jsc.hadoopConfiguration())
        local = self._files.getUri().getScheme() == "file"
        self._disk = Path(self._files.makeQualified(self._at("")).toUri().getPath()) if local else None
        self._is_named = False

    def path_of(self, name: str) -> str:
        """The full path of a name in the folder."""
        return f"{self.path}/{name}"

    def read(self, name: str) -> str | None:
        """The text of a file; None when there is none."""
        if not self._files.exists(self._at(name)):
            return None
        stream = self._files.open(self._at(name))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def exists(self, name: str) -> bool:
        """Whether the file or folder exists."""
        return bool(self._files.exists(self._at(name)))

    def load(self, name: str) -> Any:
        """The JSON in a file; None without the file, ValueError when it is not JSON."""
        text = self.read(name)
        return None if text is None else json.loads(text)

    def save(self, name: str, content: Any) -> None:
        """Write JSON atomically: readers see the old file or the new one, and a power cut does not take it back."""
        fresh = f"{name}.new"
        stream = self._files.create(self._at(fresh), True)
        try:
            stream.write(bytearray(json.dumps(content, indent=1).encode()))
        finally:
            stream.close()
        if self._disk:
            durable.sync(self._disk / fresh)
        self.move(fresh, name)
        self.sync_names([name])

    def move(self, name: str, to: str) -> None:
        """Move a file and replace the target; done already when only the target exists, refused when neither does."""
        target = self._at(to)
        if not self._files.exists(self._at(name)):
            if not self._files.exists(target):
                raise RefusedJobError(
                    f"{self.path_of(name)} is missing and was not moved to {self.path_of(to)}", MISSING_FILE_ADVICE
                )
            return
        self._files.mkdirs(target.getParent())
        self._files.delete(target, False)
        if not self._files.rename(self._at(name), target):
            raise OSError(f"{self.path_of(name)} cannot be moved to {self.path_of(to)}")

    def sync(self, name: str, since: float = 0.0) -> None:
        """Let a file, or what was changed below a folder since a time, outlive a power cut.

        No effect on file systems other than this machine's: they keep what was closed.
        """
        if self._disk:
            durable.sync_changed(self._disk / name, since)
            self.sync_names([name])

    def sync_names(self, names: Iterable[str]) -> None:
        """Let the names of files outlive a power cut, and of the folders above them; where `sync` has an effect."""
        if self._disk:
            folders = {self._disk / above for name in names for above in PurePosixPath(name).parents}
            durable.sync_folders([*folders, *(() if self._is_named else self._disk.parents)])
            self._is_named = True

    def modified(self, name: str) -> float:
        """When a file was last changed, in seconds since 1970."""
        return int(self._files.getFileStatus(self._at(name)).getModificationTime()) / 1000

    def files(self, name: str) -> list[str]:
        """Every file below a name, sorted, by its path in this folder."""
        if not self._files.exists(self._at(name)):
            return []
        top = self._files.resolvePath(self._at("")).toString()
        iterator = self._files.listFiles(self._at(name), True)
        paths = []
        while iterator.hasNext():
            paths.append(iterator.next().getPath().toString().removeprefix(f"{top}/"))
        return sorted(paths)

    def remove(self, name: str) -> None:
        """Delete a file or folder; nothing happens when it does not exist."""
        self._files.delete(self._at(name), True)

    def _at(self, name: str) -> Any:
        return self._hadoop.Path(self.path_of(name) if name else self.path)
