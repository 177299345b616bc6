"""Where a script runs: a single-use worker that locks itself before it reads one untrusted byte."""
