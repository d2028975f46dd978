"""Request and response models of the API."""
