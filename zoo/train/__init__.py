from parlai_q2.optional import check_torch

check_torch('Training')
