"""Where the program starts: nothing is imported before an interrupt is expected."""

import gc
import os
import sys


def main() -> None:
    """Run the command line; a Ctrl-C while it is still loading ends it as any later one does."""
    try:
        _hold_standard_streams()
        from diffclass.system import lean_imports

        lean_imports.install()
        from diffclass.command_line.main import main as run_and_exit

        run_and_exit()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was done\n")
        os._exit(130)  # modules that are half imported cannot be finalized cleanly
    finally:
        gc.freeze()  # nothing is left to do: a search for cycles would take another 0.2 s


def _hold_standard_streams() -> None:
    """Open the null device in place of standard streams that are closed.

    Otherwise the next file that is opened, perhaps a map, gets the number of standard error, and
    the messages of libraries are written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
