# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts a folder of the checkout on the path of the environment whose Python runs this.

Usage: link_checkout.py FOLDER. Unlike an editable installation this needs no build backend, so a
checkout works with the distribution's packages alone.
"""

import sys
import sysconfig
from pathlib import Path


def main(arguments: list[str]) -> int:
    (folder,) = arguments
    site_packages = Path(sysconfig.get_path("purelib"))
    (site_packages / "checkout.pth").write_text(f"{folder}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
