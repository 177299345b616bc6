"""What a document is asked in a world of its own, where no script of the page has replaced anything: rectangles."""

from __future__ import annotations

# For each node its ranges, each as rectangles in the frame's own viewport; a range of null is all of an element.
# null instead of rectangles: it could not tell. What certainly lies under something opaque, such as a dialog over the
# page, is left out: a bar there would hide what is shown instead. "Certainly" means one element of the page that is
# hit before the text at every point, whose background is painted in full, in one colour, with nothing that lets
# anything through. Hits follow clips, rounded corners and transforms; all that they do not follow is asked for.
RANGES = r"""function (asked, ...nodes) {
  const DISPLAYS = ["block", "flex", "grid", "inline-block", "flow-root", "list-item"];
  const known = new Map();
  const around = (node) => node.assignedSlot || node.parentNode || node.host || null;
  const holds = (element, node) => {
    for (let at = node; at; at = around(at)) if (at === element) return true;
    return false;
  };
  const clear = (style) =>
    style.opacity === "1" && style.filter === "none" && style.mixBlendMode === "normal" &&
    style.maskImage === "none" && (style.webkitMaskBoxImageSource || "none") === "none";
  const opaque = (element) => {
    if (!known.has(element)) {
      const style = getComputedStyle(element);
      let sure = element.namespaceURI === "http://www.w3.org/1999/xhtml" && style.appearance === "none" &&
        /^rgb\(\d+, \d+, \d+\)$/.test(style.backgroundColor) && style.backgroundClip === "border-box" &&
        DISPLAYS.includes(style.display) && style.visibility === "visible";
      for (let at = element; sure && at; at = around(at)) {
        if (at.nodeType === 1) sure = clear(getComputedStyle(at));
      }
      known.set(element, sure);
    }
    return known.get(element);
  };
  const coverOf = (node, x, y) => {
    for (const element of document.elementsFromPoint(x, y)) {
      if (holds(element, node) || holds(node, element)) return null;
      if (opaque(element)) return element;
    }
    return null;
  };
  const covered = (node, box) => {
    const left = box.x + 0.5, top = box.y + 0.5, right = box.right - 0.5, bottom = box.bottom - 0.5;
    const cover = coverOf(node, (left + right) / 2, (top + bottom) / 2);
    if (!cover) return false;
    const steps = Math.min(200, Math.ceil((right - left) / 8));
    for (let step = 0; step <= steps; step++) {
      const x = left + (right - left) * step / steps;
      for (const y of [top, (top + bottom) / 2, bottom]) if (coverOf(node, x, y) !== cover) return false;
    }
    return true;
  };
  // Of an input the text is clipped to its content; a label may lie upon its padding.
  const field = (element) => {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    const px = (name) => parseFloat(style[name]) || 0;
    const plain = element.localName === "input" && !["button", "file", "reset", "submit"].includes(element.type) &&
      style.writingMode === "horizontal-tb" && Math.abs(box.width - element.offsetWidth) < 1 &&
      Math.abs(box.height - element.offsetHeight) < 1;
    if (!plain) return box;
    const left = px("borderLeftWidth") + px("paddingLeft"), right = px("borderRightWidth") + px("paddingRight");
    let top = px("borderTopWidth") + px("paddingTop"), bottom = px("borderBottomWidth") + px("paddingBottom");
    const lacking = Math.max(1.5 * px("fontSize"), px("lineHeight")) - (box.height - top - bottom);
    if (lacking > 0) {
      top = Math.max(0, top - lacking / 2);
      bottom = Math.max(0, bottom - lacking / 2);
    }
    const width = box.width - left - right, height = box.height - top - bottom;
    return width > 4 && height > 4 ? new DOMRect(box.x + left, box.y + top, width, height) : box;
  };
  const rects = (node, range) => {
    if (range === null) return [field(node)];
    const made = document.createRange();
    made.setStart(node, range[0]);
    made.setEnd(node, range[1]);
    return Array.from(made.getClientRects());
  };
  const told = asked.map((ranges, at) => ranges.map((range) => {
    try {
      const all = rects(nodes[at], range).filter((one) => one.width > 0 && one.height > 0);
      if (!all.length) return null;
      return all.filter((one) => !covered(nodes[at], one)).map((one) => [one.x, one.y, one.width, one.height]);
    } catch (problem) {
      return null;
    }
  }));
  return [innerWidth, innerHeight, told];
}"""
