"""`python -P -m bridge`: how the extension starts the bridge (P: the current folder is never on the path)."""

from bridge.cli.main import main

if __name__ == "__main__":
    main()
