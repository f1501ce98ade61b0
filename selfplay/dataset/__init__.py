"""The rows of a level's matches: targets, CSV, Parquet, reading and writing."""
