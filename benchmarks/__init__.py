"""What the service costs, measured from outside; see docs/performance.md."""
