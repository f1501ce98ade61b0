"""`python -m selfplay` is the command `selfplay`."""

from selfplay.cli.main import main

if __name__ == "__main__":
    main()
