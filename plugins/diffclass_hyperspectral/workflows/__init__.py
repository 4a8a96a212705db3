"""Whole jobs on a scene: classify, embed, evaluate, suggest. What a script calls."""
