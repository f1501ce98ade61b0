"""Every figure, one file for each subject."""
