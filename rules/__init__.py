"""The rules as a service: presets, and single questions about the rules, of which nothing is kept."""
