"""`python -m assomem`: the command line."""

from assomem.cli import main

if __name__ == "__main__":
    main()
