"""What the data really do: margins, the smallest ball around them, and what a projection does to both."""
