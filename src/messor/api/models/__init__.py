"""What the API takes and answers, as the OpenAPI document shows it."""
