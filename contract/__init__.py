"""The HTTP contract: problems, strict bodies, limits, tags, cursors, the schema. It owns no table and knows no card."""
