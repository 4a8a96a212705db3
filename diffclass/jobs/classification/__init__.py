"""Classes of all points from the labels of some: where it is done, what is held out and said."""
