import { useLayoutEffect, useRef } from "preact/hooks";
import { readEntry } from "./entry-state.ts";

/** The name in an entry of the history of how many layers lie over its page. */
const KEY = "layers";

interface Layer {
  /** Takes the layer away, or lets it ask first. */
  readonly onBack: () => void;
}

/** From the lowest to the uppermost. */
const layers: Layer[] = [];
/** The state to keep after a step in the history that this module asked for, and that has not been taken yet. */
let ownStep: { readonly href: string; readonly state: object } | undefined;
/** Back was pressed, and it is not known yet whether the uppermost layer is taken away. */
let isAsking = false;

/**
 * A layer over the page, such as a dialog, has an entry of the history with the same address, so that Back takes only the layer away. Where
 * the layer is closed in another way, its entry is left as well. One that is still there after Back, because it asks first, gets it again.
 */
export function useLayer(isOn: boolean, onBack: () => void): void {
  const latest = useRef(onBack);
  latest.current = onBack;
  useLayoutEffect(() => {
    if (!isOn) return;
    const layer = { onBack: () => latest.current() };
    layers.push(layer);
    settle();
    return () => {
      const at = layers.indexOf(layer);
      if (at >= 0) layers.splice(at, 1);
      setTimeout(settle); // a layer that follows at once takes over the entry
    };
  }, [isOn]);
}

/** Goes back to what was before the page, past the entries of its layers, which are not asked. */
export function leaveByBack(): void {
  const count = depthHere() + 1;
  layers.length = 0;
  history.go(-count);
}

/** Follows Back and Forward. An entry of a layer that is not there, as after a reload, is left at once. */
export function listenToLayers(): void {
  addEventListener("popstate", () => {
    if (ownStep) keepAfterStep(ownStep);
    else if (depthHere() < layers.length) {
      isAsking = true;
      layers.at(-1)!.onBack();
      setTimeout(stay);
      return;
    }
    ownStep = undefined;
    settle();
  });
  addEventListener("load", settle); // a step before it would break off the loading
}

function depthHere(): number {
  const depth = readEntry(KEY);
  return typeof depth === "number" ? depth : 0;
}

/** Makes the entry that is shown one of as many layers as there are, step by step. */
function settle(): void {
  if (ownStep || isAsking) return;
  const extra = depthHere() - layers.length;
  if (extra > 0) step(-extra);
  for (let depth = depthHere() + 1; depth <= layers.length; depth++)
    history.pushState({ ...history.state, [KEY]: depth }, "", location.href);
}

/** Goes forward again to the entry of a layer that Back did not take away. A layer that asks because of it comes above that. */
function stay(): void {
  isAsking = false;
  if (!ownStep && layers.length > depthHere()) step(1);
}

function step(delta: number): void {
  ownStep = { href: location.href, state: { ...history.state } };
  history.go(delta);
}

/** Lets the state that the page kept in the entry of a layer, such as its selection, hold for its own entry as well. */
function keepAfterStep({ href, state }: NonNullable<typeof ownStep>): void {
  if (location.href === href) history.replaceState({ ...state, [KEY]: depthHere() }, "");
}
