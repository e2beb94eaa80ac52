"""The colours of all figures.

After those of Okabe and Ito, which colour-blind readers can tell apart, a little darker, so that words can be written
in them.
"""

INK, GREY = "#1a1a1a", "0.4"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C84E00", "#00805E", "#9B2D7F"
