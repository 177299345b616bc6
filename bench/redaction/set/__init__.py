"""The labelled pages: layouts as functions of invented values, one file per area of life."""
