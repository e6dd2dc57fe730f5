"""What torch refuses: classes and words, op by op."""
