"""Who is asking: accounts, their tokens and scopes, and the record of requests that were answered."""
