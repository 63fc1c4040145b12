# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report: one self-contained HTML page, or single figures as PNG, from files of results.

``table`` reads rows, ``specs`` says which figures there are, ``select`` fills them with data,
``draw`` paints them in the colours of ``style``, ``summary`` makes the tables, ``page`` the HTML.
"""
