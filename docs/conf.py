"""The site's settings; `make docs` builds it."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

project = "lemmascope"
author = "the lemmascope authors"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.extensions.mathml",
    "docs.extensions.generated",
]
exclude_patterns = ["generated/findings.md", "extensions"]
html_theme = "furo"
html_title = "lemmascope"
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
# Headings of all levels have anchors; dollar signs enclose formulas.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_dmath_double_inline = True
nitpicky = True
# Unresolved names are ignored if they belong to other packages, whose sites are not read, or to our private modules.
nitpick_ignore_regex = [("py:.*", r"(?!verify\b).*"), ("py:.*", r"verify(\.\w+){2,}")]
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
python_use_unqualified_type_names = True
