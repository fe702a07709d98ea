"""How results show themselves at the prompt and in notebooks: `forms` is what `verify.shown` asks."""
