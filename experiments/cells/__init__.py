"""Single cells: types from a few labelled cells, and diffusion maps beside scanpy."""
