"""The labelled development set of redaction, and how the product and its peer do on it."""
