"""Bit algebra on words, random numbers, compilation, devices."""
