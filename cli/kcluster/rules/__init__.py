"""The rules of validation: one function per rule, which yields findings with a location and a fix."""
