"""Forms: a schema drawn as fields that a person fills in, and what was filled in read back exactly."""
