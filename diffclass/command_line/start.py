"""Where the program starts: nothing is imported before an interrupt is expected."""

import atexit
import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line; a Ctrl-C while it is still loading ends it as any later one does."""
    codes: list[object] = []
    atexit.register(_leave_threads, codes)  # the first one, and so called after all others
    try:
        _hold_standard_streams()
        from diffclass.system import lean_imports

        lean_imports.install()
        from diffclass.command_line.main import main as run_and_exit

        run_and_exit()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was done\n")
        os._exit(130)  # modules that are half imported cannot be finalized cleanly
    except SystemExit as end:
        codes.append(end.code)
        raise
    finally:
        gc.freeze()  # nothing is left to do: a search for cycles would take another 0.2 s


def _leave_threads(codes: list[object]) -> None:
    """End at once where a thread still works: within the compiler it cannot be stopped otherwise.

    Python stops threads of its own as they come back from compiled code. Where that was called from
    C++ again, as by LLVM, the whole process would abort instead.
    """
    import threading

    if threading.active_count() > 1 and codes and isinstance(codes[0], int):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(codes[0])


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
