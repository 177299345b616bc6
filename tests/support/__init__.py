"""What several test folders share: a driver of the real host, a site to visit, a look at processes."""
