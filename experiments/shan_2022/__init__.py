"""Shan and Daubechies 2022: Diffusion maps, using the semigroup property for parameter tuning."""
