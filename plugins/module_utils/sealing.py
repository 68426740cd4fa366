"""Texts with secrets on their way from a host: `ansible-playbook -vvv` prints each answer of a module as it comes."""

from __future__ import annotations

import base64
import hashlib
import os


def new_key() -> str:
    """A key for one answer; it travels in an argument with `no_log`."""
    return os.urandom(32).hex()


def sealed(text: str, key: str) -> str:
    """A text that only who has the key can read; each key seals one text only."""
    return base64.b64encode(_mixed(text.encode(), key)).decode()


def unsealed(text: str, key: str) -> str:
    """The text that was sealed with this key."""
    return _mixed(base64.b64decode(text), key).decode()


def _mixed(text: bytes, key: str) -> bytes:
    """A text combined with as many bytes as the key gives; done twice it is the text again."""
    stream = hashlib.shake_256(bytes.fromhex(key)).digest(len(text))
    return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(text), "big")
