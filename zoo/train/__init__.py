from parlai_q2.packages import check_torch

check_torch('Training')
