"""Features of a scene's pixels: components of the spectra, smoothed within fields."""
