# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap drop-in``: says what is missing, and makes what the page on drop-in links."""

import json
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Run, Start

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/drop-in.md"
FILES = {"device_malloc.o", "launch_hooks.o", "device_malloc.fatbin", "link_options.txt"}
FAKE = """#!/bin/sh
echo "$*" >> {calls}
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made > "$2"; shift; done
"""


def fake_nvcc(folder: Path) -> Path:
    """A program in the place of nvcc, which notes its calls in the file ``calls``."""
    program = folder / "nvcc"
    program.write_text(FAKE.format(calls=folder / "calls"))
    program.chmod(0o755)
    return program


def test_without_nvcc_it_says_what_to_do(run: Run, tmp_path: Path) -> None:
    done = run("drop-in", "--out", "made", NVCC="/nowhere/nvcc")
    assert done.returncode == 1
    assert "NVCC is '/nowhere/nvcc'" in done.stderr
    assert not (tmp_path / "made").exists()


def test_every_file_is_made_for_the_named_gpu(run: Run, tmp_path: Path) -> None:
    nvcc = str(fake_nvcc(tmp_path))
    done = run("drop-in", "--out", "made", "--arch", "sm_80", "--json", NVCC=nvcc)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {Path(file).name for file in said["files"]} == FILES
    assert {file.name for file in (tmp_path / "made").iterdir()} == FILES
    assert Path(said["include"], "warpheap/malloc.h").exists()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 3
    assert all("-arch=sm_80" in call and "-rdc=true" in call for call in calls)


def test_a_message_of_nvcc_is_shown(run: Run, tmp_path: Path) -> None:
    nvcc = fake_nvcc(tmp_path)
    nvcc.write_text("#!/bin/sh\necho sm_7 is unsupported >&2\nexit 1\n")
    done = run("drop-in", "--out", "made", NVCC=str(nvcc))
    assert done.returncode == 1
    assert "sm_7 is unsupported" in done.stderr


def test_what_fails_half_way_leaves_everything_as_it_was(run: Run, tmp_path: Path) -> None:
    nvcc = fake_nvcc(tmp_path)
    fails_last = "#!/bin/sh\ncase $* in *-fatbin*) exit 1;; esac\n"
    nvcc.write_text(nvcc.read_text().replace("#!/bin/sh\n", fails_last))
    for folder in ("made/inside", "there"):
        (tmp_path / "there").mkdir(exist_ok=True)
        (tmp_path / "there/device_malloc.o").write_text("older\n")
        assert run("drop-in", "--out", folder, NVCC=str(nvcc)).returncode == 1
        assert {path.name for path in tmp_path.iterdir()} == {"nvcc", "calls", "there"}
        assert [path.name for path in (tmp_path / "there").iterdir()] == ["device_malloc.o"]
        assert (tmp_path / "there/device_malloc.o").read_text() == "older\n"


def test_what_is_interrupted_leaves_nothing(start: Start, tmp_path: Path) -> None:
    nvcc = fake_nvcc(tmp_path)
    nvcc.write_text(nvcc.read_text() + "sleep 20\n")
    with start("drop-in", "--out", "made", NVCC=str(nvcc)) as child:
        while child.poll() is None and not (tmp_path / "calls").exists():
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=30)
    assert child.returncode == 130
    assert {path.name for path in tmp_path.iterdir()} == {"nvcc", "calls"}


def test_the_command_can_be_pasted_whatever_the_folder_is_called(run: Run, tmp_path: Path) -> None:
    nvcc = str(fake_nvcc(tmp_path))
    done = run("drop-in", "--out", "my objects", "--json", NVCC=nvcc)
    assert done.returncode == 0, done.stderr
    words = shlex.split(json.loads(done.stdout)["link"])
    assert "my objects/device_malloc.o" in words


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_the_commands_of_the_page_link_a_program(run: Run, tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests/drop_in/programs/unchanged.cu", tmp_path / "app.cu")
    shutil.copy(ROOT / "tests/drop_in/programs/check.h", tmp_path)
    (block,) = re.findall(r"```sh\n(warpheap drop-in.*?)```", PAGE.read_text(), re.DOTALL)
    # There need not be a GPU here.
    made, linked = block.replace("native", "sm_90").splitlines()
    words = made.split("#")[0].split()
    done = run(*words[1:])
    assert done.returncode == 0, done.stderr
    subprocess.run(linked, shell=True, check=True, cwd=tmp_path)
    symbols = subprocess.run(
        ["nm", tmp_path / "app"], capture_output=True, text=True, check=True
    ).stdout
    # The launches of the program pass through the hooks.
    assert "__wrap_cudaGraphLaunch" in symbols
    assert "warpheap_malloc_before_launch" in symbols
