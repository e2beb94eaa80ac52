"""`slimline`, telling a file how many bytes of the data it reads: for tests that kill it."""

import os
import sys
import time

from slimline import cli
from slimline.data import files


def main() -> None:
    log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    read_into = files.OpenFile.read_into

    def told(self, out, *arguments, **options):
        time.sleep(0.002)  # so that there is something to kill
        result = read_into(self, out, *arguments, **options)
        os.write(log, f"{out.nbytes}\n".encode())
        return result

    files.OpenFile.read_into = told
    cli.main()


if __name__ == "__main__":
    main()
