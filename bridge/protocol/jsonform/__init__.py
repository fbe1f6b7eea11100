"""Calls that are JSON in the text itself, or the whole message: the engines of the JSON dialects."""
