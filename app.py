"""The entry of Weir's command line, for a checkout that is not installed: `python app.py`."""

from weir.commands.main import main

if __name__ == "__main__":
    main()
