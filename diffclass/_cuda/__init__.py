"""Every CUDA kernel, on bare device arrays, and how they get there.

They are written for numba-cuda, which compiles them when they are first called. Nothing here is
imported before a device is asked for. Without one, tests run them in Numba's simulator
(``NUMBA_ENABLE_CUDASIM=1``).
"""
