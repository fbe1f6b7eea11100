"""Calls written as elements: the engine and the writing of the XML dialects."""
