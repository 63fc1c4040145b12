# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The equations of random walks: against an implementation in C++ that they replaced, against
simulations of what they describe, and as values of a row."""

import math

import numpy as np
import pytest

from warpheap import random_walk_model
from warpheap.errors import UserError
from warpheap.random_walk_model import Walk

INF = math.inf
# Pages, free ones, threads, bits of a word; then `steps` (two), equations 5 and 6,
# `mean_warp_steps`, `warp_steps_bound`, `first_passage` as that implementation gave them.
BEFORE = [
    (
        (1048576, 524288, 1024, 32),
        (
            1.0000000003678828,
            1.0000000167454648,
            1.0000000002402478,
            1.0000000079306184,
            1,
            1.0152567857767956,
            0.062622309197651702,
        ),
    ),
    (
        (1064705, 10647, 1024, 1),
        (
            105.13660228672619,
            447.50645622820412,
            105.13660228665806,
            447.50645622761255,
            105.46007936696812,
            111.1778481783485,
            110.64169178011005,
        ),
    ),
    (
        (256000, 2560, 1280, 32),
        (
            5.0249300168626672,
            27.769616534271702,
            4.8353666666871753,
            25.802128006522079,
            4.7927741612061121,
            7.1818118386727043,
            6.2500000000000053,
        ),
    ),
    (
        (256000, 25600, 1280, 64),
        (
            1.0029134093924337,
            1.1500631504549439,
            1.0014171627119639,
            1.0524973526273453,
            1,
            1.1323858599928538,
            0.16447368421052616,
        ),
    ),
    (
        (1000, 100, 1, 1),
        (
            10.000000000000002,
            39.430401566859082,
            10.000000000000002,
            39.430401566859082,
            9.9999999999916795,
            10.101010101001869,
            10.101010101010109,
        ),
    ),
    ((2, 2, 2, 1), (1.5, INF, 1.5, INF, 1, INF, INF)),
    (
        (640000, 6400, 1024, 32),
        (
            3.9590298651010434,
            15.924013210928132,
            3.914013028772195,
            15.535065293520891,
            3.8952543456354398,
            4.326122375010427,
            3.7202380952380905,
        ),
    ),
    (
        (1000000, 5100, 5000, 64),
        (
            14.148736157342073,
            720.95757234398673,
            12.777727221939251,
            634.60816676468585,
            12.34710567712037,
            161.80889453522104,
            156.2499999999998,
        ),
    ),
    (
        (4096, 100, 100, 32),
        (8.7615082337948369, INF, 7.1571634304028882, INF, 3.9566871543342619, INF, INF),
    ),
]


@pytest.mark.parametrize("setting, expected", BEFORE)
def test_same_numbers_as_before(setting: tuple[int, ...], expected: tuple[float, ...]) -> None:
    walk = Walk(*setting)
    found = (
        *random_walk_model.steps(walk),
        random_walk_model.equation_5(walk),
        random_walk_model.equation_6(walk),
        random_walk_model.mean_warp_steps(walk),
        random_walk_model.warp_steps_bound(walk),
        random_walk_model.first_passage(walk),
    )
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("word_bits, free", [(1, 4_000), (1, 700), (32, 25_600), (32, 2_560)])
def test_mean_steps_of_simulated_walks(word_bits: int, free: int) -> None:
    random = np.random.default_rng(1)
    walk = Walk(25_600 if word_bits == 1 else 256_000, free, 500, word_bits)
    taken = 0
    pools = 30
    for _ in range(pools):
        pages = np.zeros(walk.pages, bool)
        pages[random.choice(walk.pages, free, replace=False)] = True
        left = pages.reshape(-1, word_bits).sum(axis=1)
        for _ in range(walk.threads):
            while True:
                taken += 1
                word = int(random.integers(len(left)))
                if left[word]:
                    left[word] -= 1
                    break
    assert taken / pools / walk.threads == pytest.approx(random_walk_model.steps(walk)[0], rel=0.03)


def test_slowest_lane_of_simulated_warps() -> None:
    random = np.random.default_rng(2)
    for walk in (Walk(10**6, 10_000, 5_000, 1), Walk(10**6, 10_000, 5_000, 32)):
        miss = (1 - walk.share_at_the_end) ** walk.word_bits
        slowest = random.geometric(1 - miss, (20_000, random_walk_model.LANES)).max(axis=1)
        assert slowest.mean() == pytest.approx(random_walk_model.equation_6(walk), rel=0.02)


def test_collaborating_warps_of_a_simulation() -> None:
    random = np.random.default_rng(4)
    walk = Walk(640_000, 6_400, 1_024, 32)
    pools, taken = 10, 0
    for _ in range(pools):
        pages = np.zeros(walk.pages, bool)
        pages[random.choice(walk.pages, walk.free, replace=False)] = True
        left = pages.reshape(-1, walk.word_bits).sum(axis=1)
        for _ in range(walk.threads // random_walk_model.LANES):
            need = random_walk_model.LANES
            while need > 0:
                taken += 1
                for word in random.integers(len(left), size=random_walk_model.LANES):
                    got = min(need, left[word])
                    left[word] -= got
                    need -= got
    mean = taken / pools / (walk.threads // random_walk_model.LANES)
    assert mean == pytest.approx(random_walk_model.mean_warp_steps(walk), rel=0.04)
    assert mean < random_walk_model.warp_steps_bound(walk)


def test_mean_steps_of_single_pages_are_equation_3() -> None:
    equation_3 = 10**6 / 5_000 * math.log(10_000 / (10_000 - 5_000))
    assert random_walk_model.equation_5(Walk(10**6, 10_000, 5_000)) == pytest.approx(
        equation_3, rel=1e-3
    )


@pytest.mark.parametrize(
    "search, names",
    [
        ("independent", {"tas_model", "was_bound", "tas_equation", "was_equation"}),
        ("collaborative", {"tas_model", "was_bound", "first_passage"}),
        ("clustered", {"tas_model", "tas_bound", "was_bound"}),
    ],
)
def test_values_of_a_row(search: str, names: set[str]) -> None:
    row = {"page_count": 64, "free_pages": 32, "threads": 32, "word_bits": 32, "search": search}
    values = random_walk_model.row_values(row)
    assert set(values) == names
    assert values["was_bound"] is None  # no page is left at the end
    assert (values["tas_model"] is None) == (search == "clustered")


def test_a_walk_without_equations_is_refused() -> None:
    row = {"page_count": 64, "free_pages": 32, "threads": 32, "word_bits": 32, "search": "spiral"}
    with pytest.raises(UserError) as refused:
        random_walk_model.row_values(row)
    known = "independent, collaborative, clustered"
    assert str(refused.value) == f"unknown walk 'spiral'; known walks: {known}"
