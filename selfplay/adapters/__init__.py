"""Adapters to other libraries, one file each. Each needs its library, which is an optional dependency."""
