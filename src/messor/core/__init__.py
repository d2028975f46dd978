"""Clock, ids, masking, logs, sandbox: what every room may use."""
