"""The mathematics: the learner's state and its update."""
