"""Clock, ids and batching: small tools every room may use."""
