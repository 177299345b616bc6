"""What private details look like: check digits, shapes and spellings as pure functions; no engine and no model."""
