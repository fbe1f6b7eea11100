"""Prints how many ferries were late."""

import json
import os
import sys


def late(departures: list[dict[str, int]]) -> int:
    return sum(1 for departure in departures if departure["delayMinutes"] > 0)


if __name__ == "__main__":
    print(f"{late(json.load(sys.stdin))} late departures")
