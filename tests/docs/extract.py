# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the code of a Markdown file into a folder, each block under the name in its first line.

Usage: extract.py PAGE.md FOLDER. A block that begins with ```cpp is a file `NAME.cpp` or `NAME.cu`
whose first line is a comment with that name; files of one stem make a program. One that begins with
```c is `NAME.c` in the same way. A block that begins with ```cmake is `FOLDER/CMakeLists.txt`; one
that begins with ```sh may be `NAME.sh`, or no file. Prints the names, one per line. Files whose
text is the same stay untouched, so that they are not compiled again.
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(cpp|cmake|sh|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:// |# )(\w+\.(?:cpp|cu|sh|c)|\w+/CMakeLists\.txt)(?![\w/])")


def main(document: str, folder: str) -> int:
    """Run as a program."""
    blocks = BLOCK.findall(Path(document).read_text(encoding="utf-8"))
    for language, block in blocks:
        name = NAME.match(block)
        if name is None and language == "sh":
            continue
        if name is None:
            print(
                f"{document}: a block must begin with '// NAME.cpp', not: {block.splitlines()[0]}",
                file=sys.stderr,
            )
            return 1
        target = Path(folder) / name.group(1)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != block:
            target.write_text(block, encoding="utf-8")
        print(name.group(1))
    if not blocks:
        print(f"{document} has no block of code", file=sys.stderr)
    return 0 if blocks else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
