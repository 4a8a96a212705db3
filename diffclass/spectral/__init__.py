"""The spectral side of a diffusion: eigenpairs, distances, bandwidths, extension to new points."""
