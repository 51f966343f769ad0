/** A place in the lanes: shares of the width, and pixels from the top. */
export interface Place {
  readonly share: number;
  readonly topPx: number;
}

export interface Gestures {
  /** By a share of the width; to the right for positive ones. */
  pan(share: number): void;
  zoom(factor: number, share: number): void;
  click(at: Place): void;
  doubleClick(at: Place): void;
  /** Is called while the pointer selects, and once more when it has. */
  select(from: Place, to: Place, isDone: boolean): void;
  /** A mouse or a pen rests or moves over the place; undefined when it left. */
  hover(at: Place | undefined): void;
}

const CLICK_PX = 4;
/** The zoom of a wheel that turns by pixels; one that turns by lines sends about 100 of them a notch. */
const ZOOM_PER_PX = 0.0015;

/**
 * Understands mouse, pen and touch: drag selects, with Shift it pans; a finger pans, and two zoom. A wheel zooms where it has nothing to
 * scroll, or with Ctrl.
 */
export function watchGestures(element: HTMLElement, gestures: Gestures): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const fingers = new Fingers(element, gestures);
  element.addEventListener("pointerdown", (event) => fingers.down(event), { signal });
  element.addEventListener("pointermove", (event) => fingers.move(event), { signal });
  element.addEventListener("pointerup", (event) => fingers.up(event), { signal });
  element.addEventListener("pointercancel", (event) => fingers.cancel(event), { signal });
  element.addEventListener("pointerleave", () => gestures.hover(undefined), { signal });
  element.addEventListener("dblclick", (event) => gestures.doubleClick(placeOf(element, event)), { signal });
  element.addEventListener("wheel", (event) => turn(element, gestures, event), { signal, passive: false });
  return () => ended.abort();
}

function turn(element: HTMLElement, gestures: Gestures, event: WheelEvent): void {
  const isUpright = !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX);
  if (event.ctrlKey || event.metaKey || (isUpright && !canScroll(element))) {
    event.preventDefault();
    const turnedPx = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * 33;
    gestures.zoom(Math.exp(turnedPx * ZOOM_PER_PX), placeOf(element, event).share);
    return;
  }
  const sidewaysPx = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
  if (Math.abs(sidewaysPx) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
  event.preventDefault();
  gestures.pan(sidewaysPx / element.clientWidth);
}

function canScroll(element: HTMLElement): boolean {
  const scroller = element.closest("[data-scroller]");
  return scroller !== null && scroller.scrollHeight > scroller.clientHeight + 1;
}

function placeOf(element: HTMLElement, { clientX, clientY }: { clientX: number; clientY: number }): Place {
  const box = element.getBoundingClientRect();
  return { share: (clientX - box.left) / box.width, topPx: clientY - box.top };
}

class Fingers {
  readonly #element: HTMLElement;
  readonly #gestures: Gestures;
  readonly #at = new Map<number, Place>();
  #start: Place | undefined;
  #hasMoved = false;
  #selects = false;

  constructor(element: HTMLElement, gestures: Gestures) {
    this.#element = element;
    this.#gestures = gestures;
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const place = placeOf(this.#element, event);
    this.#element.setPointerCapture(event.pointerId);
    this.#at.set(event.pointerId, place);
    if (this.#at.size > 1) {
      this.#hasMoved = true;
      return;
    }
    this.#start = place;
    this.#hasMoved = false;
    this.#selects = event.pointerType !== "touch" && !event.shiftKey;
    this.#gestures.hover(undefined);
  }

  move(event: PointerEvent): void {
    const before = this.#at.get(event.pointerId);
    const place = placeOf(this.#element, event);
    if (!before || !this.#start) {
      if (event.pointerType !== "touch") this.#gestures.hover(place);
      return;
    }
    const other = [...this.#at].find(([id]) => id !== event.pointerId)?.[1];
    const movedPx = Math.hypot(
      (place.share - this.#start.share) * this.#element.clientWidth,
      place.topPx - this.#start.topPx,
    );
    if (movedPx > CLICK_PX) this.#hasMoved = true;
    if (!this.#hasMoved) return;
    this.#at.set(event.pointerId, place);
    if (this.#selects) this.#gestures.select(this.#start, place, false);
    else if (other) this.#pinch(before, place, other);
    else this.#gestures.pan(before.share - place.share);
  }

  #pinch(before: Place, now: Place, other: Place): void {
    const [apartBefore = 1, apart = 1] = [before, now].map(({ share }) =>
      Math.max(Math.abs(share - other.share), 0.01),
    );
    this.#gestures.zoom(apartBefore / apart, (now.share + other.share) / 2);
  }

  up(event: PointerEvent): void {
    const place = this.#at.get(event.pointerId);
    if (!place || !this.#at.delete(event.pointerId) || this.#at.size > 0) return;
    if (!this.#hasMoved && this.#start) this.#gestures.click(this.#start);
    else if (this.#selects && this.#start) this.#gestures.select(this.#start, place, true);
    this.#start = undefined;
  }

  /** The browser took the gesture for itself, to scroll. */
  cancel(event: PointerEvent): void {
    this.#at.delete(event.pointerId);
    if (this.#at.size === 0) this.#start = undefined;
  }
}
