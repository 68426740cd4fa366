"""Numbers with their nouns, for messages."""


def counted(number: int, noun: str) -> str:
    """The number with thousands separators and the noun, in the plural unless the number is 1: "1 record"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
