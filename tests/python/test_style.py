# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How figures look: colours that are readable and apart, and nothing that is cut off."""

import itertools
import math
import re
from pathlib import Path

import pytest
from matplotlib import image

from test_report import load, plots_by_slug, row, sizes
from warpheap.report import draw, page, style
from warpheap.report.colours import contrast, lab


@pytest.mark.parametrize("name", [*style._LOOKS, "someone_elses", "another"])
def test_colours_are_readable_on_both_pages(name: str) -> None:
    css = (Path(page.__file__).parent / "page.css").read_text()
    for background in re.findall(r"--page: (#[0-9a-f]{6})", css):
        assert contrast(style.look(name).colour, background) >= 3.0
    assert style.look(name) == style.look(name)


def test_lab_of_known_colours() -> None:
    assert lab("#ffffff") == pytest.approx((100, 0, 0), abs=0.02)
    assert lab("#ff0000") == pytest.approx((53.24, 80.09, 67.20), abs=0.02)


def test_every_look_in_the_table_has_a_colour_of_its_own() -> None:
    everybody = {name: lab(look.colour) for name, look in style._LOOKS.items()}
    for one, other in itertools.combinations(everybody, 2):
        apart = math.dist(everybody[one], everybody[other])
        # Device managers share figures with each other, and so do pools.
        together = (one in style._MANAGERS) == (other in style._MANAGERS)
        assert apart >= (20 if together else 15), f"{one} and {other}: {apart:.1f}"


def test_managers_that_are_not_in_the_table_have_colours_of_their_own() -> None:
    names = [f"new_{number}" for number in range(100)]
    fresh = [style.look(name).colour for name in names]
    assert len(set(fresh)) == len(fresh)
    for name, colour in zip(names, fresh, strict=True):
        assert contrast(colour, "#ffffff") >= 3.0
        for listed, look in style._LOOKS.items():
            apart = math.dist(lab(colour), lab(look.colour))
            assert apart >= 15, f"{name} and {listed}: {apart:.1f}"


LONG = {"rw": 799.0, "reg_eff_cfm": 100.0, "ouroboros_va_p": 41.0}
WIDE = {"rw": 990_000.0, "corw": 0.000999, "ouroboros_va_p": 3.21}


@pytest.mark.parametrize("times", [LONG, WIDE, {"rw": 0.6558}, {"rw": 0.8, "corw": 0.79}])
def test_no_text_of_a_figure_is_cut_off(tmp_path: Path, times: dict[str, float]) -> None:
    rows = [
        row(case="graph_init", manager=name, graph="email", malloc=time, free=time)
        for name, time in times.items()
    ]
    lines = [entry for name, time in times.items() for entry in sizes(name, malloc=time)]
    for plot in plots_by_slug(load(tmp_path, rows + lines)).values():
        file = draw.png(plot, tmp_path)
        pixels = image.imread(file)[:, :, :3]
        # What is cut off leaves ink in the outermost columns.
        assert pixels[:, :2].min() == pixels[:, -2:].min() == 1.0, plot.slug
