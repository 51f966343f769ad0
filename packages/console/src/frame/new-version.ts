import { signal } from "@preact/signals";

/** The service has other pages by now: a part of this one is not there any more. */
export const isOutdated = signal(false);

/** A part that cannot be loaded is one of a version that was replaced. Vite sends this event for it. */
export function watchForNewVersion(): void {
  addEventListener("vite:preloadError", (event) => {
    event.preventDefault();
    isOutdated.value = true;
  });
}
