"""Display of results at the prompt and in notebooks: `verify.shown` loads the module `forms`."""
