# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocation traces: read, made, replayed on pools, drawn.

``trace`` is what a trace is, ``rmm_log`` reads and writes RMM's log format, ``synthetic`` makes the
benchmark of the host-based paper, ``resources`` names what a trace can be replayed on, ``replay``
replays, ``draw`` plots.
"""
