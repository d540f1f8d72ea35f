"""What the papers' retrieval experiments share: collections, grids of topic models, their choice, tables."""
