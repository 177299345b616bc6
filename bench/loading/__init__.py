"""What `./dev bench egress` is made of: a site, the works that load it, and their figures."""
