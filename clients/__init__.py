"""Clients of the HTTP API: `clients.http`, a small one to build on, and `clients.play`, a whole game played with it.

Neither needs the service's packages, nor any other: they stand on the standard library, and the player on `bots`.
"""
