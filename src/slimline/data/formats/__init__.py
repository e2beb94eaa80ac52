"""Storage formats, one file each, and what a format that reads files needs besides `slimline.data`."""

from slimline.data._files import DataFile, digest
from slimline.data._names import Names
from slimline.data._passes import BLOCK_BYTES, Buffers

__all__ = ["BLOCK_BYTES", "Buffers", "DataFile", "Names", "digest"]
