"""What is shown, and to whom: tables, progress, plans and errors."""
