"""A model to look at: views (a bundle in, plain data out), and the report and the explorer made of them."""
