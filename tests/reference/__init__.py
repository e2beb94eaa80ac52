"""Reference implementations of kernels that the library has in C++ only: slow and obvious, in NumPy."""
