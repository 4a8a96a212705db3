"""Where the program starts: nothing is imported before an interrupt is expected."""

import os
import sys


def main() -> None:
    """Run the command line; a Ctrl-C while it is still loading ends it as any later one does."""
    try:
        from diffclass.command_line.main import main as run_and_exit

        run_and_exit()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was done\n")
        os._exit(130)  # modules that are half imported cannot be finalized cleanly
