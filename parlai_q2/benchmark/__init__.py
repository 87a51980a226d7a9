"""What ``parlai_q2 bench`` measures."""
