"""The 45 nastiest things that a script with `browser.debug` can try, each on real Chromium, with its outcome."""
