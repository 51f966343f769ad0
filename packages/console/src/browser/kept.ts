/** Returns what this browser keeps under a key. A browser that keeps nothing, as some do in private windows, has none. */
export function readKept(key: string): string | undefined {
  try {
    return localStorage.getItem(`downlink.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(`downlink.${key}`, value);
  } catch {
    // Where the browser keeps nothing, a choice holds until the page is closed.
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(`downlink.${key}`);
  } catch {
    // Where the browser keeps nothing, there is nothing to forget.
  }
}
