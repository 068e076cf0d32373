"""Read-only views of a model: experts, weights, the drift it has seen, alarms, intervals."""
