// The current document, null when it is longer than `most`. Elements that are invisible, by all of the page's
// style sheets, carry the attribute `mark`, which is removed before any script of the page runs. The content of
// a closed <details> can be opened: it is judged by its own style.
(most, mark, limit) => {
  const root = document.documentElement;
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  const isClear = colour => colour === 'transparent' || /^rgba\(.*, 0(\.0\d*)?\)$/.test(colour);
  const grounds = new Map([[null, 'rgb(255, 255, 255)']]);  // the colour behind an element, '' for an image
  const ground = element => {
    if (!grounds.has(element)) {
      const style = getComputedStyle(element);
      const own = style.backgroundImage !== 'none' ? '' : style.backgroundColor;
      grounds.set(element, isClear(own) ? ground(element.parentElement) : own);
    }
    return grounds.get(element);
  };
  const folds = new Map([[null, false]]);  // whether an ancestor clips an element to nothing
  const isFolded = element => {
    if (!folds.has(element)) {
      const box = element.getBoundingClientRect();
      const isSmall = box.width <= 1 || box.height <= 1;
      const isCut = isSmall && getComputedStyle(element).overflow !== 'visible';
      folds.set(element, isCut || isFolded(element.parentElement));
    }
    return folds.get(element);
  };
  const isUnseen = element => {
    const isClosed = element.closest('details:not([open])') && !element.closest('summary');
    if (!isClosed && !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) return true;
    const style = getComputedStyle(element);
    if (style.display === 'none' || style.visibility !== 'visible' || style.opacity === '0') return true;
    if (parseFloat(style.fontSize) < 2 || parseFloat(style.textIndent) < -500) return true;
    if (isClear(style.color) || style.color === ground(element)) return true;
    if (isClosed || style.display === 'contents') return false;
    const box = element.getBoundingClientRect();
    if (style.display !== 'inline' && (box.width <= 1 || box.height <= 1)) return true;
    return isFolded(element) || box.right + scrollX <= 0 || box.bottom + scrollY <= 0;
  };
  const marked = [];
  const found = document.body ? document.body.querySelectorAll('*:not(script, style, template, noscript)') : [];
  for (const element of Array.prototype.slice.call(found, 0, limit)) {
    const hasText = Array.prototype.some.call(
      element.childNodes, node => node.nodeType === 3 && node.data.trim() !== '');
    if (hasText && !element.closest(`[${mark}]`) && isUnseen(element)) {
      element.setAttribute(mark, '');
      marked.push(element);
    }
  }
  const html = root ? type + root.outerHTML : type;
  for (const element of marked) element.removeAttribute(mark);
  return html.length > most ? null : html;
}
