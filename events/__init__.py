"""What happened, in order, told to whoever may know: log, hints that wake readers, streams. Knows no card."""
