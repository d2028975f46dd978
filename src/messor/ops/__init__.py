"""Is it healthy? Audits over what the other rooms have recorded; nothing here sends a request."""
