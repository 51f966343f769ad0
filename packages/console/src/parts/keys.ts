import { useLayoutEffect } from "preact/hooks";
import { keep, readKept } from "../browser/kept.ts";

export interface Shortcut {
  /** `i`, `Shift+T`, or two keys one after the other: `g c`. As `KeyboardEvent.key` names them, but for `Space`. */
  readonly keys: string;
  readonly does: string;
  readonly run: () => void;
}

const active = new Set<readonly Shortcut[]>();
let first = "";

/** Returns the shortcuts that hold on the page that is open, for the list that `?` shows. */
export function activeShortcuts(): readonly Shortcut[] {
  return [...active].flat();
}

/** Returns whether single keys are on. They may be turned off, because speech input types them by mistake. WCAG 2.1.4 */
export function areKeysOn(): boolean {
  return readKept("keys") !== "off";
}

export function turnKeys(isOn: boolean): void {
  keep("keys", isOn ? "on" : "off");
}

/**
 * Shortcuts hold while the component that names them is on the page, except in text fields and below an open dialog. The next key meets the
 * shortcuts after the last change, even if nothing was drawn between them.
 */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useLayoutEffect(() => {
    active.add(shortcuts);
    return () => void active.delete(shortcuts);
  });
}

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (!areKeysOn() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key === " " ? "Space" : event.key;
    if (takesKey(event.target, key) || document.querySelector("dialog[open]")) return;
    const find = (pressed: string) => activeShortcuts().findLast(({ keys }) => keys === pressed);
    const found = find(`${first} ${key}`) ?? find(key);
    first = key.length === 1 ? key : "";
    if (!found) return;
    event.preventDefault();
    first = "";
    found.run();
  });
}

/** Fields take every key, but for a slider, which takes those that move it; buttons take the one that presses them. */
function takesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === "Space" && target.closest("button, summary")) return true;
  if (target instanceof HTMLInputElement && target.type === "range") return /^(Arrow|End|Home|Page)/.test(key);
  return target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName);
}
