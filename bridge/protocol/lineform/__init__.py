"""Calls that begin on a line of their own: the engine and the readers of the YAML and function dialects."""
