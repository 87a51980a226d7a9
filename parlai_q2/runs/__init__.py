"""
Processes the records of files: reads them, hands them to a job in chunks, appends the
results, and resumes a run that was stopped.
"""
