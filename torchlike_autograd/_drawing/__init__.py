"""Pictures and texts of what is recorded (layer 9)."""
