"""The explorer: a model live in the browser, on this machine, for who has its link."""
