"""
Reading what is to be scored and writing what was.
"""
