"""Experiments: each script makes a table or a picture of `experiments/results`."""

# for ``python -c``: the program, also of another checkout that comes first on the path
PROGRAM = "from diffclass.command_line.start import main; main()"
