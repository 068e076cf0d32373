"""One-pass learning from data streams whose distribution changes."""
