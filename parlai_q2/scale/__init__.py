"""Runs a job in many processes or on many GPUs, by actors on a Ray cluster."""
