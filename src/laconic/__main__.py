"""``python -m laconic`` is ``laconic``."""

from laconic.cli import main

if __name__ == "__main__":
    main()
