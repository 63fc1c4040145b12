# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap drop-in``: compiles what gives a program's kernels the malloc of warpheap."""

import shutil
import tempfile
from pathlib import Path

import typer

from warpheap import process, shell
from warpheap.commands import options
from warpheap.console import out, print_json, steps
from warpheap.device_heap import CompilerMissing, compile_malloc, sources
from warpheap.errors import EXIT_FAILED, UserError, guarded

# What is made of which source, by which option of nvcc.
PARTS = {
    "device_malloc.o": ("device_malloc.cu", "-c"),
    "launch_hooks.o": ("launch_hooks.cu", "-c"),
    "device_malloc.fatbin": ("device_malloc.cu", "-fatbin"),
}
LINK_OPTIONS = "link_options.txt"


@guarded
def drop_in(
    folder: Path = typer.Option(
        Path("warpheap-malloc"), "--out", help="The folder that the files go to."
    ),
    architecture: str = typer.Option(
        "native", "--arch", help="The GPUs, as nvcc's -arch: native, sm_90, all-major, ..."
    ),
    as_json: bool = options.json_output(),
) -> None:
    """Compile the objects that let malloc and new in kernels use warpheap, for your nvcc and GPU.

    Takes about a minute. Link a program with them as the last line says; docs/drop-in.md has more.
    """
    try:
        found = sources()
        # Beside the folder until all is made: what fails or is interrupted leaves nothing there.
        with (
            process.terminate_as_interrupt(),
            tempfile.TemporaryDirectory(dir=_there(folder)) as place,
        ):
            with steps("compiling", len(PARTS)) as progress:
                for name, (source, how) in PARTS.items():
                    progress.now(name)
                    arguments = ("-Xcompiler", "-fPIC", how, str(found.malloc / source))
                    compile_malloc(architecture, *arguments, "-o", f"{place}/{name}")
                    progress.advance(name)
            shutil.copy(found.malloc / LINK_OPTIONS, place)
            folder.mkdir(parents=True, exist_ok=True)
            for file in Path(place).iterdir():
                file.replace(folder / file.name)
    except CompilerMissing as error:
        raise UserError(str(error), EXIT_FAILED) from error
    objects = [str(folder / name) for name in ("device_malloc.o", "launch_hooks.o")]
    options_file = ["--options-file", str(folder / LINK_OPTIONS)]
    link = shell.join(
        ["nvcc", f"-arch={architecture}", "-rdc=true", "PROGRAM.cu", *objects, *options_file]
    )
    if as_json:
        files = [str(folder / name) for name in (*PARTS, LINK_OPTIONS)]
        include = str(found.include)
        print_json({"schema": 1, "files": files, "include": include, "link": link})
    else:
        out.print(f"{folder}: {', '.join(PARTS)}")
        out.print(link, soft_wrap=True)


def _there(folder: Path) -> Path:
    """Return the folder, or else the nearest one above it that exists."""
    whole = folder.absolute()
    return next(place for place in (whole, *whole.parents) if place.exists())


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("drop-in")(drop_in)
