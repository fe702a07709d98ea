// Measures the page that contains this script, and sends its findings to the parent window.
addEventListener("load", () => {
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  const parse = colour => (colour.match(/[\d.]+/g) || []).map(Number);
  const channel = value => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = element => {
    const box = element.closest("svg.graph a");
    if (box) return parse(getComputedStyle(box.querySelector("rect")).fill);
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
  };
  const faint = [];
  let texts = 0;
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(element);
    if (!own || style.display === "none" || ["SCRIPT", "TITLE", "DESC", "STYLE"].includes(element.tagName.toUpperCase())) continue;
    const colour = parse(element.closest("svg") ? style.fill : style.color);
    texts += 1;
    const found = contrast(colour, behind(element));
    if (found < 4.5) faint.push(`${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 40)}: ${found.toFixed(2)}`);
  }
  const unmarked = [], focused = [...document.querySelectorAll("a[href], summary, [tabindex='0']")];
  for (const element of focused) {
    const mark = () => {
      const style = getComputedStyle(element), rect = element.querySelector("rect");
      return `${style.outlineStyle} ${style.outlineWidth} ${rect ? getComputedStyle(rect).strokeWidth : ""}`;
    };
    const before = mark();
    element.focus({ focusVisible: true });
    if (document.activeElement !== element || mark() === before) unmarked.push(element.outerHTML.slice(0, 80));
  }
  const lost = [...document.querySelectorAll("a[href^='#']")]
    .filter(link => !document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1))))
    .map(link => link.getAttribute("href"));
  // A link to a part of closed details opens them.
  document.querySelectorAll("details").forEach(each => { each.open = false; });
  const card = document.querySelector("details.card [id], details.card");
  location.hash = "";
  location.hash = `#${card.id}`;
  setTimeout(() => {
    const math = [...document.querySelectorAll("math mfrac")].length;
    parent.postMessage(JSON.stringify({
      width: innerWidth,
      wide: document.documentElement.scrollWidth,
      dark: matchMedia("(prefers-color-scheme: dark)").matches,
      texts, faint, focusable: focused.length, unmarked, lost, math,
      opened: card.closest("details").open,
      title: document.title,
      loaded: performance.getEntriesByType("resource").map(each => each.name),
    }), "*");
  }, 300);
});
