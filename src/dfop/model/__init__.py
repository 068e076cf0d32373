"""The model: settings, coder, target, engine, monitor, lags, clock, waiting rows."""
