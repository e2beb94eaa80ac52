"""`python -m slimline.cli`."""

from slimline.cli import main

if __name__ == "__main__":
    main()
