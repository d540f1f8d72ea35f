"""HTML made of views: the templates, styles and scripts that the report and the explorer have in common."""
