"""Read-only views of a model: its experts, its weights, the drift it has seen, alarms, intervals."""
