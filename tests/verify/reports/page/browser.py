"""A page in a real browser, Debian's Chromium without a window: its log, and measurements of a probe in the page."""

import json
import re
import shutil
import subprocess
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0")
_DARK = "--blink-settings=preferredColorScheme=0"
PROBE = Path(__file__).with_name("probe.js")


def looked_at(text, folder, *, width=1280, dark=False):
    """Return the probe's findings in a page, at a width and in a colour scheme, and the console's messages."""
    assert CHROMIUM is not None
    probed = folder / "probed.html"
    probe = f'<pre id="probed"></pre><script>{PROBE.read_text(encoding="utf-8")}</script></body>'
    probed.write_text(text.replace("</body>", probe), encoding="utf-8")
    # A frame can have any width; a window of Chromium has at least 500 pixels.
    outer = folder / "outer.html"
    outer.write_text(
        f'<iframe id="inner" src="probed.html" style="border:0;width:{width}px;height:800px"></iframe><script>'
        'onmessage = event => { document.body.textContent = "PROBED" + event.data + "DEBORP"; };</script>',
        encoding="utf-8",
    )
    flags = [
        *_FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        *([_DARK] if dark else []),
        "--virtual-time-budget=20000",
    ]
    command = [CHROMIUM, *flags, f"--window-size={max(width, 800)},900", "--dump-dom", outer.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search("PROBED(.*?)DEBORP", ran.stdout, re.DOTALL)
    assert found, ran.stderr[-2000:]
    console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")), console
