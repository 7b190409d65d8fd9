"""The experiments of the paper: one module each, a pure function from settings to a table.

Every module holds `Settings` (defaults are the paper's), ``run(settings, seed, tick)`` which
returns a tidy table, ``draw(table)`` which makes the paper's picture of it, ``summarise(table)``
and ``read(table)``, which says in words what the table shows. `catalogue` lists them all.
"""
