"""Fuzz targets of the native tools, in C++; the Python here makes their first inputs."""
