"""The options, and how commands are declared with them.

===============  ========================================================================================
`table`          the options that are parameters in Python, one line each; how errors word parameters
`line`           what a line says, and what follows from it for typer, for the library and for messages
`defaults`       what parameters are if nobody says anything, as the library has it
`conversions`    from what is typed to what the library takes, where these differ
`declaring`      ``@command(READING, TERMS, ...)``: a function that receives its options sorted
`parsing`        ``--text-NAME``, former names of options, and defaults in the help
`modalities`     several modalities of a document
`naming`         options as they are typed, for messages
`arguments`      arguments that several commands have
===============  ========================================================================================
"""
