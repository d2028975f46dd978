"""Records of pages, as a running thing: queue, readers, shadow trials, replay."""
