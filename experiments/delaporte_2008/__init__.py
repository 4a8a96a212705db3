"""De la Porte, Herbst, Hereman and van der Walt, An introduction to diffusion maps (2008)."""
