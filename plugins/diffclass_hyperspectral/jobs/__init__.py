"""Whole jobs: a scene in, a result and its report out.

Each chapter imports from those below it:

    suggestions     pixels to label next
    classification  labels or a model to a class map, with cleaning, files, summary
    clustering, anomalies, embedding
    evaluation      held-out labels, class maps against the truth
    class_sizes     what is known of the sizes of classes, as text

A job prints nothing: it names its stages (`diffclass.system.progress`), and callers listen.
"""
