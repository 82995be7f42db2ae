"""What the harness costs, measured against two baselines in the same run."""
