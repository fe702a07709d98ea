"""Extensions of Sphinx for the site: pages generated from the code, and formulas as MathML."""
