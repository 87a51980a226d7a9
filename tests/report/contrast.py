"""
What of a page does not stand out from what is behind it, by the contrast of WCAG 2.2:
4.5 to 1 of texts (1.4.3, level AA), with the signs that styles add and the hints of
empty fields; 3 to 1 of the edges of fields (1.4.11). A canvas blends what is
translucent.
"""

from typing import Any

FAINT = """
(() => {
  const paper = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true });
  const luminance = (colours) => {
    for (const colour of colours) {
      paper.fillStyle = colour;
      paper.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...paper.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => (e
    ? [...behind(e.parentElement), getComputedStyle(e).backgroundColor] : ['#fff']);
  const contrast = (colour, ground) => {
    const two = [luminance([...ground, colour]), luminance(ground)];
    return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
  };
  const found = [];
  const look = (e, part, colour, ground, least) => {
    const is = contrast(colour, ground);
    if (is < least) found.push([part, e.className || e.tagName, e.innerText, is]);
  };
  for (const e of document.querySelectorAll('body *')) {
    if (!e.getClientRects().length || e.disabled) continue;
    const style = getComputedStyle(e);
    if ([...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) {
      look(e, 'text', e.closest('svg') ? style.fill : style.color, behind(e), 4.5);
    }
    for (const part of ['::before', '::after']) {
      const { content, color } = getComputedStyle(e, part);
      const drawn = /[^"\\s]/.test(content.replace('none', ''));
      if (drawn) look(e, part, color, behind(e), 4.5);
    }
    if (e.matches('input, select, textarea')) {
      look(e, 'edge', style.borderTopColor, behind(e.parentElement), 3);
      if (e.placeholder) {
        const hint = getComputedStyle(e, '::placeholder');
        look(e, 'hint', hint.color, behind(e), hint.opacity === '1' ? 4.5 : 21);
      }
    }
  }
  return found;
})()
"""


def faint(browser: Any) -> list[list[Any]]:
    """Each such part of the page: what it is, where, its words, its contrast."""
    return browser.js(FAINT)
