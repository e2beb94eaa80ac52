"""Writing data: files that appear when they are complete, genotypes in the formats that are read."""
