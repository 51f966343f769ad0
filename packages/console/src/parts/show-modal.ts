import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { useLayer } from "../browser/layers.ts";

const FIELDS = ":is(input:not([type=checkbox]), select, textarea):enabled";
const BUTTONS = "button:not(.danger):enabled";

/**
 * Shows a dialog over the page for as long as it is rendered. The focus goes to its first field, or else to its first button that does no
 * harm, and is given back afterwards. Back calls `onClose`; one that must be answered has none.
 */
export function useModal(element: RefObject<HTMLDialogElement | null>, onClose: (() => void) | undefined): void {
  useLayoutEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    firstIn(dialog)?.focus();
    // Some browsers close a dialog by a second Escape without asking the page, which decides by itself when it is over.
    const reopen = () => {
      dialog.showModal();
      firstIn(dialog)?.focus();
    };
    dialog.addEventListener("close", reopen);
    return () => {
      dialog.removeEventListener("close", reopen);
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useLayer(onClose !== undefined, () => onClose?.());
}

const QUESTION = "[role=alert] button";

/** A question about what would be lost comes before all else. The header has the button that closes the dialog. */
function firstIn(dialog: HTMLDialogElement): HTMLElement | undefined {
  const find = (kind: string) => Array.from(dialog.querySelectorAll<HTMLElement>(`:scope > :not(header) ${kind}`));
  return [...find(QUESTION), ...find(FIELDS), ...find(BUTTONS)].find((one) => one.checkVisibility());
}
