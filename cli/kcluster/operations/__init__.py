"""Decisions, one verb per file: plain arguments in, a result out; nothing here prints or knows Typer."""
