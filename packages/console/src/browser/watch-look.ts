/** Calls when the theme or the density of the screen may have changed: a window was moved to another screen, the night began. */
export function watchLook(onChange: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(onChange);
  const ended = new AbortController();
  dark.addEventListener("change", onChange, { signal: ended.signal });
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  watchDensity(onChange, ended.signal);
  return () => {
    ended.abort();
    chosen.disconnect();
  };
}

function watchDensity(onChange: () => void, signal: AbortSignal): void {
  const media = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  const follow = () => {
    onChange();
    watchDensity(onChange, signal);
  };
  media.addEventListener("change", follow, { once: true, signal });
}
