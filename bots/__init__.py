"""Players that answer "what now?" from the view of their seat, in plain Python on top of `spades`.

>>> from bots.player import REGISTRY
>>> sorted(REGISTRY)
['random', 'steady']
"""
