# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many steps random walks take, by the equations of their paper.

M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng: "Dynamic Buffer Management in Massively
Parallel Systems: The Power of Randomness", ACM Transactions on Parallel Computing 12(1), 2025,
DOI 10.1145/3701623.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from warpheap.errors import check_names

LANES = 32  # of a warp
WALKS = ("independent", "collaborative", "clustered")  # what a row may have as ``search``
_TAIL = 1e-12


@dataclass(frozen=True)
class Walk:
    """A pool of ``pages``, ``free`` of them free at random, and ``threads`` lanes that take one
    each; a step looks at ``word_bits`` pages. ``threads <= free <= pages``.
    """

    pages: int
    free: int
    threads: int
    word_bits: int = 1

    @property
    def share_at_the_end(self) -> float:
        """Share of the pages that are free when every thread has one."""
        return (self.free - self.threads) / self.pages


def equation_5(walk: Walk) -> float:
    """Mean steps of a thread, equation 5; with ``word_bits`` of 1 the sum that equation 3
    approximates.

    The j-th thread to succeed meets words with a free page with probability
    1 - ((T - A + j) / T)^w. With larger words it is too small: it spreads the pages that are gone
    over all free ones at random, but a walk draws words, and the last page of a word goes sooner
    than one of many. O(threads).
    """
    used = (walk.pages - walk.free + np.arange(walk.threads)) / walk.pages
    with np.errstate(divide="ignore"):  # log 0 is -inf, and exp of that is 0
        return float(np.mean(1 / -np.expm1(walk.word_bits * np.log(used))))


def equation_6(walk: Walk) -> float:
    """Bound on the mean, over warps, of the slowest lane's steps: equations 4 (w = 1) and 6.

    The largest of 32 geometric variables with the share of free pages at the end, (A - N) / T. With
    larger words it has the same shortcoming. Infinite if no page is left at the end.
    """
    return _slowest_of_a_warp((1 - walk.share_at_the_end) ** walk.word_bits)


def steps(walk: Walk) -> tuple[float, float]:
    """Mean steps of a thread, and the bound on the slowest lane's: the two equations with the words
    that walks leave.

    Every thread takes one page of a word drawn among those that have one: a mean-field recurrence
    of how many words have how many free pages. The same as the equations for w = 1. The bound is
    infinite if no page is left at the end. O(threads * w).
    """
    words = walk.pages / walk.word_bits
    counts = np.arange(walk.word_bits + 1)
    share = stats.binom.pmf(counts, walk.word_bits, walk.free / walk.pages)
    total = 0.0
    for _ in range(walk.threads):
        some = 1 - share[0]
        total += 1 / some
        # This thread's word is one of those with k free pages with probability share[k] / some.
        moved = share[1:] / (words * some)
        share[1:] -= moved
        share[:-1] += moved
    none_left = walk.threads == walk.free
    bound = math.inf if none_left else _slowest_of_a_warp(float(share[0]))
    return total / walk.threads, bound


def first_passage(walk: Walk) -> float:
    """Mean steps of a warp whose lanes search together, equation 11.

    The time at which a Brownian motion with drift mu = 32 w p a step, p = (A - N) / T, reaches 32
    has an inverse Gaussian distribution, whose mean is 32 / mu. Below 1 where one step finds more
    pages than needed. Infinite if no page is left at the end.
    """
    drift = LANES * walk.word_bits * walk.share_at_the_end
    if drift == 0:
        return math.inf
    variance = drift * (1 - walk.share_at_the_end)
    if variance == 0:
        return LANES / drift
    shape = LANES**2 / variance
    return float(stats.invgauss(LANES / drift / shape, scale=shape).mean())


def mean_warp_steps(walk: Walk) -> float:
    """Return the same in whole steps, without the normal approximation.

    The number of steps until a warp has seen 32 free pages, averaged over the warps as they use up
    the free pages one after another. O(threads).
    """
    total = 0.0
    for served in range(0, walk.threads, LANES):
        lanes = min(LANES, walk.threads - served)
        # Every lane of the warp takes that many.
        total += lanes * _steps_to_serve(lanes, walk.word_bits, (walk.free - served) / walk.pages)
    return total / walk.threads


def warp_steps_bound(walk: Walk) -> float:
    """Bound on the mean steps of such a warp: those of the last one, if every step in which two of
    its lanes meet in one word (they can offer the same page) finds nothing.

    Infinite if no page is left at the end.
    """
    if walk.share_at_the_end == 0:
        return math.inf
    lanes = min(LANES, walk.threads)
    apart = np.prod(1 - np.arange(1, lanes) * walk.word_bits / walk.pages)
    if apart <= 0:
        return math.inf
    return _steps_to_serve(lanes, walk.word_bits, walk.share_at_the_end) / float(apart)


def row_values(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Return what the equations predict for a row of ``random_walk_steps``, by its fields' names.

    None stands for an infinite number. Raises UserError if no equations are known for its walk.
    """
    search = str(row["search"])
    check_names("walk", [search], WALKS)
    walk = Walk(row["page_count"], row["free_pages"], row["threads"], row["word_bits"])
    if search == "collaborative":
        values = {
            "tas_model": mean_warp_steps(walk),
            "was_bound": warp_steps_bound(walk),
            "first_passage": first_passage(walk),
        }
    elif search == "clustered":
        mean, bound = steps(walk)
        # How often the first look succeeds depends on what was taken before; if it never does, a
        # whole walk follows.
        values = {"tas_model": math.inf, "tas_bound": 1 + mean, "was_bound": 1 + bound}
    else:
        mean, bound = steps(walk)
        values = {"tas_model": mean, "was_bound": bound}
        values |= {"tas_equation": equation_5(walk), "was_equation": equation_6(walk)}
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def _slowest_of_a_warp(miss: float) -> float:
    """Mean of the largest of 32 geometric variables that fail with probability ``miss``."""
    if miss >= 1:
        return math.inf
    total, step = 1.0, 1
    while miss > 0:
        # P(more than this many steps) = 1 - (1 - miss^k)^32, for a block of steps at a time.
        more = -np.expm1(LANES * np.log1p(-(miss ** np.arange(step, step + 4096))))
        total += float(np.sum(more))
        step += 4096
        if more[-1] < _TAIL:
            break
    return total


def _steps_to_serve(lanes: int, word_bits: int, share: float) -> float:
    """Mean steps until ``lanes`` lanes that look at ``word_bits`` pages each a step have seen as
    many free pages as they are.
    """
    # The mean of a positive whole number is the sum of P(number > i).
    total, step = 0.0, 0
    while True:
        trials = lanes * word_bits * np.arange(step, step + 64)
        more = stats.binom.cdf(lanes - 1, trials, share)
        total += float(np.sum(more))
        step += 64
        if more[-1] < _TAIL:
            return total
