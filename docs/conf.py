"""How `make docs` builds the documentation: warnings are errors, nothing comes from a network."""

import os
import sys
from pathlib import Path

import matplotlib

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
matplotlib.use("Agg")
# One thread, so that the build asks for no more of the machine than it needs.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Dask logs each shuffle as a warning.
os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")

import unshuffle  # noqa: E402

project = "unshuffle"
author = "the unshuffle contributors"
copyright = author
release = version = unshuffle.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "run",
]
exclude_patterns = ["_build", "gallery/*.rst", "gallery/README*"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
highlight_language = "none"

# Pages.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Reference: one page per name, members on it.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
default_role = "py:obj"
templates_path = ["_templates"]

# Examples: every one runs, a failure ends the build.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_.*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "thumbnail_size": (480, 330),
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib",),
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "unshuffle"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options = {
    "logo": {"text": "unshuffle"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "examples/index": []}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False


def skip_member(app, what, name, thing, skip, options):
    """The docstring of a named tuple describes its fields."""
    if (getattr(thing, "__doc__", "") or "").startswith("Alias for field number"):
        return True
    return skip


def setup(app):
    """Register what is ours."""
    app.connect("autodoc-skip-member", skip_member)
