"""Commands of whoever runs the service."""
