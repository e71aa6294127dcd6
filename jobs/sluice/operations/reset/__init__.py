"""Reset: close the generation and open the next one somewhere else."""
