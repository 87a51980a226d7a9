"""Fits a scorer's prior, threshold and weights to labelled pairs."""
