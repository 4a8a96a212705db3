"""What the method asks of the machine: files, memory, progress, other libraries.

Its modules know nothing of points or labels; each says what it is for, and ``__all__`` what others
may import of it.
"""
