"""Files of scenes, labels and maps: what is read, what is written, and where on Earth it lies."""
