import { signal } from "@preact/signals";
import { forget, readKept } from "./kept.ts";

// The frame knows this alone of uploads, so that the first page is no larger for those who upload nothing.

export const KEPT_KEY = "uploads";

/** Whether there are uploads to show, or may be. */
export const isTrayWanted = signal(readKept(KEPT_KEY) !== undefined);

/** Ends all uploads of this tab and forgets those that were begun, because the user signs out. */
export function forgetUploads(): void {
  forget(KEPT_KEY);
  isTrayWanted.value = false;
}
