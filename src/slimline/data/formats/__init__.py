"""Storage formats, one file each; `slimline.data.open_matrix` finds the one that fits."""
