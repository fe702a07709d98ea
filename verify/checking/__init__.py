"""One theorem at one instance: checked, re-checked, certified; and the standing of all theorems."""
