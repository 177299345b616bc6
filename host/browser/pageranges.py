"""What a document is asked in a world of its own, where no script of the page has replaced anything: rectangles."""

from __future__ import annotations

# For each node its ranges, each as rectangles in the frame's own viewport; a range of null is all of an element.
# null instead of rectangles: it could not tell. What certainly lies under something opaque, such as a dialog over the
# page, is left out: a bar there would hide what is shown instead. "Certainly" means: at every point one and the same
# element is hit before the text's own; it is painted as a whole after the text (positioned, or in the top layer, under
# which nothing else can be hit); its background is there in full, in one colour, and nothing lets anything through.
# What is said here of pseudo-elements, backdrops and pointer events is what hits follow although no background does.
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
    style.maskImage === "none" && (style.webkitMaskBoxImageSource || "none") === "none" &&
    /^(none|matrix\([-\d.e]+, 0, 0, [-\d.e]+, .*\))$/.test(style.transform) && style.rotate === "none" &&
    style.offsetPath === "none";
  const bare = (element) => ["::before", "::after"].every(
    (pseudo) => ["none", "normal"].includes(getComputedStyle(element, pseudo).content));
  const opaque = (element) => {
    if (!known.has(element)) {
      const style = getComputedStyle(element);
      let sure = element.namespaceURI === "http://www.w3.org/1999/xhtml" && style.appearance === "none" &&
        /^rgb\(\d+, \d+, \d+\)$/.test(style.backgroundColor) && style.backgroundClip === "border-box" &&
        DISPLAYS.includes(style.display) && style.visibility === "visible" && bare(element);
      for (let at = element; sure && at; at = around(at)) {
        if (at.nodeType === 1) sure = clear(getComputedStyle(at));
      }
      known.set(element, sure);
    }
    return known.get(element);
  };
  const topOf = (node) => {
    for (let at = node; at; at = around(at)) {
      if (at.nodeType === 1 && at.matches(":modal, :popover-open, :fullscreen")) return at;
    }
    return null;
  };
  const over = (element, node) => {
    if (topOf(element)) return !topOf(node);
    for (let at = element; at && !holds(at, node); at = around(at)) {
      if (at.nodeType === 1 && getComputedStyle(at).position !== "static") return true;
    }
    return false;
  };
  const within = (element, x, y) => {
    const box = element.getBoundingClientRect();
    return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  };
  const coverOf = (node, x, y) => {
    const own = node.nodeType === 1 ? node : node.parentNode;
    let cover = null;
    for (const element of node.getRootNode().elementsFromPoint(x, y)) {
      if (cover && element === own) return cover;
      if (holds(element, node) || holds(node, element)) break;
      if (!cover && opaque(element) && within(element, x, y) && over(element, node)) cover = element;
    }
    return cover && topOf(cover) ? cover : null;
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
  // Above the text of an input there may be room for its label, which is no part of its value.
  const LABEL_PX = 12;
  const field = (element) => {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    const px = (name) => parseFloat(style[name]) || 0;
    const above = px("paddingTop") - px("paddingBottom") >= LABEL_PX ? px("borderTopWidth") + px("paddingTop") : 0;
    const plain = element.localName === "input" && style.writingMode === "horizontal-tb" &&
      Math.abs(box.width - element.offsetWidth) < 1 && Math.abs(box.height - element.offsetHeight) < 1 &&
      box.height - above >= 1.5 * px("fontSize");
    return plain ? new DOMRect(box.x, box.y + above, box.width, box.height - above) : box;
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
