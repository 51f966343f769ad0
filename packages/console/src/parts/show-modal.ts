import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { useLayer } from "../browser/layers.ts";

const FIELDS = ":is(input:not([type=checkbox]), select, textarea):enabled";
const BUTTONS = "button:not(.danger):enabled";

/**
 * Shows a dialog over the page for as long as it is rendered. The focus goes to its first field, or else to its first button that does no
 * harm, and is given back afterwards. Back calls `onClose`; one that must be answered has none.
 */
export function useModal(element: RefObject<HTMLDialogElement | null>, onClose: (() => void) | undefined): void {
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    firstIn(dialog)?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useLayer(onClose !== undefined, () => onClose?.());
}

/** The header has the button that closes the dialog. */
function firstIn(dialog: HTMLDialogElement): HTMLElement | undefined {
  const find = (kind: string) => Array.from(dialog.querySelectorAll<HTMLElement>(`:scope > :not(header) ${kind}`));
  return [...find(FIELDS), ...find(BUTTONS)].find((one) => one.checkVisibility());
}
