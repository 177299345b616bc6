"""What an AI may see: private details are found in texts and pixels, in a process of its own without network."""
