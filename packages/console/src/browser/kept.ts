/** Returns what this browser keeps under a key. A browser that keeps nothing, as some do in private windows, has none. */
export function readKept(key: string): string | undefined {
  try {
    return localStorage.getItem(`downlink.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice in this browser. Where the browser keeps nothing, the choice holds until the page is closed. */
export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(`downlink.${key}`, value);
  } catch {
    // as said above
  }
}
