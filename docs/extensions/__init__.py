"""What the site is built with beyond Sphinx: pages generated from the code, and formulas as MathML."""
