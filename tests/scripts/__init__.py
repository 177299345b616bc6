"""The app folders that ship with the project, and what loads and serves an app folder."""
