"""Scores a file with a scorer that is an object, not a name."""

from parlai_q2.cli.file_command import JobRunner
from parlai_q2.runs.file_run import CHUNK_RECORDS, LocalEngine
from parlai_q2.runs.outputs import plan_outputs
from parlai_q2.runs.score_job import ScoreJob


def score_file(infile, outfile, scorer, engine=None, chunk_size=CHUNK_RECORDS):
    """As ``parlai_q2 score --allow-errors``; return the summary."""
    job = ScoreJob(lambda device: scorer)
    outputs = plan_outputs(str(infile), str(outfile))
    outputs.check()
    engine = engine or LocalEngine(job)
    run = JobRunner(outputs, engine, job, scorer.name, size=chunk_size)
    return run.process(allow_errors=True)
