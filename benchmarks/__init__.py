"""What is measured, side by side, with the numbers it gave."""
