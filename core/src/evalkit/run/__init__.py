"""Playing and scoring runs: plan, pool of workers, runner, scoring."""
