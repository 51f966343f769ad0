/** The meaning of a key in the lanes. */
export type LaneAction =
  | { readonly kind: "move"; readonly rows: number; readonly bins: number }
  | { readonly kind: "edge"; readonly direction: 1 | -1 }
  | { readonly kind: "end"; readonly direction: 1 | -1 }
  | { readonly kind: "zoom"; readonly factor: number }
  | { readonly kind: "open" | "import" | "event" | "clear" };

interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const SHIFT_BINS = 50;
const PAGE_ROWS = 20;
export const ZOOM_STEP = 1.5;

const SINGLE: Readonly<Record<string, LaneAction>> = {
  "+": { kind: "zoom", factor: 1 / ZOOM_STEP },
  "=": { kind: "zoom", factor: 1 / ZOOM_STEP },
  "-": { kind: "zoom", factor: ZOOM_STEP },
  Enter: { kind: "open" },
  i: { kind: "import" },
  e: { kind: "event" },
  Escape: { kind: "clear" },
  Home: { kind: "end", direction: -1 },
  End: { kind: "end", direction: 1 },
  PageDown: { kind: "move", rows: PAGE_ROWS, bins: 0 },
  PageUp: { kind: "move", rows: -PAGE_ROWS, bins: 0 },
  ArrowDown: { kind: "move", rows: 1, bins: 0 },
  ArrowUp: { kind: "move", rows: -1, bins: 0 },
};

/** Arrows move the cursor by a row or a bin, with Shift by fifty bins, with Ctrl to where data begins or ends. */
export function actionOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Key): LaneAction | undefined {
  if (altKey) return undefined;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const direction = key === "ArrowLeft" ? -1 : 1;
    if (ctrlKey || metaKey) return { kind: "edge", direction };
    return { kind: "move", rows: 0, bins: direction * (shiftKey ? SHIFT_BINS : 1) };
  }
  if (ctrlKey || metaKey) return undefined;
  return Object.hasOwn(SINGLE, key) ? SINGLE[key] : undefined;
}
