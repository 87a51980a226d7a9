"""Reads the records to score and writes the results."""
