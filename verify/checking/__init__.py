"""One theorem at one instance: checked, re-checked, certified; and what all theorems stand on."""
