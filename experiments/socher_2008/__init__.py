"""Socher 2008: Manifold learning and dimensionality reduction with diffusion maps."""
