"""Features of a scene's pixels: components, spectra of length 1, spatial scales."""
