"""What finds private details in a text: recognizers for Presidio's registry, one file an area."""
