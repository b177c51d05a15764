"""Records of customers, with sample data, for `handrail serve --demo`. Nothing is kept when it ends."""
