"""The default against other stream learners, on the same rows: ``make peers``.

`rows` has the streams, `roster` who takes part, `record` keeps every score, `chance` says what a
difference is worth, `summary` counts, `page` and `picture` show. The command is `__main__`.
"""
