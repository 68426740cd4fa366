# Apache License 2.0 (see LICENSE)
"""What a host must be before anything of Kafka comes to it. Python 3.8, nothing besides."""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
import subprocess

SYSTEMD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where systemd looks for programs when a unit does not say."""

SYSCTL_FILE = "/etc/sysctl.d/60-kcluster-kafka.conf"
KERNEL = "/proc/sys"
SWAPS = "/proc/swaps"

AT_MOST, AT_LEAST = "at most", "at least"

SETTINGS = {
    # A broker that is swapped out answers too late; 1 still lets the kernel swap before it kills.
    "vm.swappiness": (1, AT_MOST),
    # Two maps for each log segment: with the usual 65530 a broker dies at some 30 000 segments.
    "vm.max_map_count": (262144, AT_LEAST),
}


class HostError(Exception):
    """What the host cannot offer, as one sentence and what to do."""


class Work:
    """What is found and changed; in check mode, what would be."""

    def __init__(self, check_mode):
        self.check_mode = check_mode
        self.changes = []
        self.files = []
        self.notes = []

    def change(self, what, before, after, *steps):
        """Note a change and make it, unless this is check mode: each step is a function and its arguments.

        Nothing before means that it was not there.
        """
        self.changes.append((what, before, after))
        for step, *arguments in () if self.check_mode else steps:
            step(*arguments)

    @property
    def changed(self):
        """Whether anything differs from what is wanted."""
        return bool(self.changes or self.files)

    @property
    def told(self):
        """A sentence for each change."""
        found = [(what, before) for what, before, _ in self.changes]
        found += [(file["after_header"], file["before"]) for file in self.files]
        return [f"{'change' if before else 'add'} {what}" for what, before in found]

    @property
    def diff(self):
        """Everything that changes, as Ansible shows it."""
        before = [f"{what} {was}" for what, was, _ in self.changes if was]
        after = [f"{what} {shall_be}".rstrip() for what, _, shall_be in self.changes]
        host = {"before": lines(before), "after": lines(after), **headers("the host")}
        return ([host] if self.changes else []) + self.files


def lines(texts):
    """Texts as lines."""
    return "".join(f"{text}\n" for text in texts)


def headers(text):
    """The same header for both sides of a difference."""
    return {"before_header": text, "after_header": text}


def account(work, user, group):
    """A group and a user for the services: no password, no shell, no home."""
    if not exists(grp.getgrnam, group):
        work.change(f"group {group}", "", "", (run, "groupadd", "--system", group))
    if not exists(pwd.getpwnam, user):
        nobody = ("--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin")
        work.change(f"user {user}", "", f"in group {group}", (run, "useradd", *nobody, "--gid", group, user))


def exists(look, name):
    """Whether an account is there."""
    try:
        look(name)
    except KeyError:
        return False
    return True


def run(*command):
    """A command of the system; its words when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise HostError(f"{' '.join(command)}: {done.stdout.decode(errors='replace').strip()}")


def directory(work, path, user, group, mode):
    """A directory with its owner and mode; what lies in it is left alone."""
    wanted, found = f"{user}:{group} {mode:04o}", described(path)
    if found == wanted:
        return
    steps = [(give, path, user, group, mode)]
    work.change(f"directory {path}", found, wanted, *([] if found else [(os.makedirs, path, 0o755)]), *steps)


def described(path):
    """A directory's owner and mode; nothing when it is not there."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return ""
    if not stat.S_ISDIR(found.st_mode):
        raise HostError(f"{path} is there and is not a directory\ntry: move it away")
    user, group = named(pwd.getpwuid, found.st_uid), named(grp.getgrgid, found.st_gid)
    return f"{user}:{group} {stat.S_IMODE(found.st_mode):04o}"


def named(look, number):
    """The name of an account, or its number."""
    try:
        return look(number)[0]
    except KeyError:
        return str(number)


def give(path, user, group, mode):
    """Set owner and mode of one directory."""
    os.chown(path, pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid)
    os.chmod(path, mode)


def kernel(work):
    """Kernel settings: written for the next boot, and applied where the host allows it."""
    before = read(SYSCTL_FILE) or ""
    kept = re.findall(r"^([a-z._]+) *=", before, re.MULTILINE)
    # What a host has already is not written down: a better value of the distribution stays.
    names = [name for name in SETTINGS if name in kept or (present(name) is not None and not good(name, present(name)))]
    after = sysctl_text(names)
    if after != before:
        work.files.append({"before": before, "after": after, **headers(SYSCTL_FILE)})
        if not work.check_mode:
            write(SYSCTL_FILE, after)
    for name in names:
        apply(work, name)


def sysctl_text(names):
    """The file with our settings; empty when there are none."""
    told = [f"{name} = {SETTINGS[name][0]}" for name in names]
    return lines(["# Written by kcluster: what Kafka wants of the kernel.", *told]) if told else ""


def apply(work, name):
    """Set one value now, or say that the host does not let us."""
    wanted, found = SETTINGS[name][0], present(name)
    if found is None or good(name, found):
        return
    path = setting_path(name)
    if not os.access(path, os.W_OK):
        work.notes.append(
            f"{name} stays {found} and should be {wanted}: this host's kernel settings cannot be changed here"
        )
        return
    work.change(f"kernel {name}", str(found), str(wanted), (write, path, f"{wanted}\n"))


def present(name):
    """The value the kernel has; None when it does not know the setting."""
    text = read(setting_path(name))
    return int(text) if text and text.strip().isdigit() else None


def good(name, found):
    """Whether a value serves Kafka."""
    wanted, bound = SETTINGS[name]
    return found <= wanted if bound == AT_MOST else found >= wanted


def setting_path(name):
    """The file that a setting is in the kernel's own tree."""
    return os.path.join(KERNEL, *name.split("."))


def swap(work):
    """Advise, but never turn off, swap: other things on the host may need it."""
    if len((read(SWAPS) or "").splitlines()) > 1:
        work.notes.append(
            "swap is on: a broker that is swapped out answers too late; better: swapoff -a, and in /etc/fstab"
        )


def java(java_home, path):
    """The version of the Java that the units would start; nothing when there is none."""
    for place in [os.path.join(java_home, "bin")] if java_home else path.split(":"):
        program = os.path.join(place, "java")
        if os.access(program, os.X_OK):
            return version(program)
    return ""


def version(program):
    """The version out of the file beside the program, because Java itself takes a third of a second to say it."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    for place in (home, os.path.dirname(home)):  # Java 8 has its program in jre/bin
        told = re.search(r'^JAVA_VERSION="(.+)"', read(os.path.join(place, "release")) or "", re.MULTILINE)
        if told:
            return told[1]
    said = subprocess.run([program, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
    told = re.search(r'version "(.+?)"', said.decode(errors="replace"))
    return told[1] if told else ""


def feature(text):
    """The number people mean: 17 of "17.0.15", 8 of "1.8.0_392"."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    return numbers[1] if numbers[:1] == [1] and len(numbers) > 1 else (numbers or [0])[0]


def lacking_java(found, oldest, java_home, what):
    """What is wrong with the Java that was found; nothing when it will do."""
    if found and feature(found) >= oldest:
        return ""
    where = f" in {java_home} (JAVA_HOME)" if java_home else ""
    if found:
        return f"Java {found}{where} is too old: {what} needs Java {oldest} or newer"
    return f"there is no Java{where}: {what} needs Java {oldest} or newer"


def package(release_text):
    """The package with a Java that runs every release, for the system that /etc/os-release describes."""
    told = {key: value.strip("\"'") for key, value in re.findall(r"^(\w+)=(.*)$", release_text, re.MULTILINE)}
    family = {told.get("ID", ""), *told.get("ID_LIKE", "").split()}
    if family & {"rhel", "fedora", "centos"}:
        return "java-17-openjdk-headless"
    if told.get("ID") == "debian" and feature(told.get("VERSION_ID", "99")) > 12:
        return "default-jre-headless"  # 17 is gone there
    return "openjdk-17-jre-headless"


def read(path):
    """The text of a file; None when it cannot be read."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None


def write(path, text):
    """Write a file; below /proc there is nothing to rename."""
    with open(path, "w") as file:
        file.write(text)


def ensure(wanted, check_mode):
    """Everything, Java first: a host without it is left as it was."""
    found = java(wanted["java_home"], wanted["path"] or SYSTEMD_PATH)
    name = package(read("/etc/os-release") or "")
    lacking = lacking_java(found, wanted["oldest_java"], wanted["java_home"], wanted["release"])
    if lacking and (wanted["java_home"] or not wanted["install_java"]):
        raise HostError(lacking + advice(wanted["java_home"], name))
    work = Work(check_mode)
    prepare(work, wanted)
    swap(work)
    if lacking:  # the role does it next
        work.change(f"package {name}", "", "")
    told = [*work.notes, *([f"{lacking}; {name} will be installed"] if lacking else [])]
    return {
        "changed": work.changed,
        "changes": work.told,
        "diff": work.diff,
        "notes": work.notes,
        "msg": "\n".join(told),
        "java": found,
        "java_package": name if lacking else "",
    }


def prepare(work, wanted):
    """Everything but Java; `kcluster plan` asks the same of a host, in check mode."""
    account(work, wanted["user"], wanted["group"])
    directory(work, wanted["install_dir"], "root", "root", 0o755)
    directory(work, wanted["config_dir"], "root", "root", 0o755)
    directory(work, wanted["log_dir"], wanted["user"], wanted["group"], 0o750)
    kernel(work)


def advice(java_home, name):
    """What to do about Java."""
    if java_home:
        return "\ntry: correct JAVA_HOME in the inventory (kafka_environment, spark_environment), or remove it"
    return f"\ntry: install {name}, or let kcluster do it: kafka_install_java: true"
