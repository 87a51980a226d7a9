"""
Scores files that are larger than memory, on several processes or GPUs. An engine scores
each chunk of a file in one call of a scorer and returns the results in order, in this
process or in workers; both produce the same output.
"""
