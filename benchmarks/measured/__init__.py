"""The sections of benchmarks/throughput.py, and how times are taken."""
