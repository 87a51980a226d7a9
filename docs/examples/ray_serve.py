"""The proxy on a Ray cluster, at port 8000: ``serve run ray_serve:deployment``."""

import os

from ray import serve

from parlai_q2.serve import make_app

UPSTREAM = os.environ.get('UPSTREAM', 'http://localhost:8000/v1')


@serve.deployment(num_replicas=2, max_ongoing_requests=64)
@serve.ingress(lambda: make_app(UPSTREAM))
class Proxy:
    """Each replica loads the models once."""


deployment = Proxy.bind()
