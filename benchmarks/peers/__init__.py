"""laconic beside the topic models that people use: the same texts and measures, each in its own process.

`contenders` and `encoders` say how each is fitted, `protocols` what is measured, `measures` how, `store`
where the numbers are kept, `page` how they are shown. ``python -m benchmarks.peers`` runs what is missing.
"""
