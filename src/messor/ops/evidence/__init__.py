"""Evidence bundles: one record or page with everything that shows how it was come by, signed."""
