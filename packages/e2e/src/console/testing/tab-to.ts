import assert from "node:assert/strict";
import type { Locator } from "playwright-core";

const MOST_STOPS = 120;

/** An element of the browser, as far as the focus goes. */
interface Focusable {
  readonly ownerDocument: {
    readonly activeElement: unknown;
    readonly defaultView: { getComputedStyle(element: Focusable): { readonly outlineStyle: string } };
  };
}

/** Presses Tab until one element has the focus, as a user without a mouse does. That user has to see where the focus is. */
export async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    const [hasFocus, isShown] = await target.evaluate(focusOf);
    if (hasFocus) return assert.ok(isShown, `${target} does not show that it has the focus`);
    await target.page().keyboard.press("Tab");
  }
  assert.fail(`${target} is not reached with ${MOST_STOPS} times Tab`);
}

/** Goes to a button or a link, and presses Enter. */
export async function pressAt(target: Locator): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press("Enter");
}

/** Goes to a field, and types over what stands there. */
export async function typeInto(target: Locator, text: string): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press("Control+a");
  await target.page().keyboard.type(text);
}

function focusOf(element: unknown): [hasFocus: boolean, isShown: boolean] {
  const { ownerDocument: page } = element as Focusable;
  const { outlineStyle } = page.defaultView.getComputedStyle(element as Focusable);
  return [page.activeElement === element, outlineStyle !== "none"];
}
