"""Apps: installing and finding them, what they may read and know, and the commands about them."""
