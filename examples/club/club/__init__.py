"""A club evening: tables of four, their paper cards typed in, and the standings at the end.

Three modules: `book` is what the club keeps in its own SQLite file, `service` speaks to the Spades API through the
generated client, and `__main__` is the commands.
"""
