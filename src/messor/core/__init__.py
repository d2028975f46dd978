"""Clock, ids, masking, sandbox: what every room may use."""
