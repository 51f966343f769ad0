import { mixPaint, type Paint, type Palette } from "./paint-row.ts";

const TOKENS: Readonly<Record<keyof Palette, string>> = {
  page: "--surface",
  lane: "--sunken",
  hatch: "--line",
  imported: "--imported",
  onItsWay: "--moving",
  edgeOnly: "--edge",
  failed: "--failed",
  event: "--event",
};

/** Reads the colours of the theme as the page shows them. */
export function readPaint(inside: HTMLElement): Paint {
  const probe = document.createElement("i");
  inside.append(probe);
  const read = (token: string) => {
    probe.style.color = `var(${token})`;
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  };
  const palette = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)]));
  probe.remove();
  return mixPaint(palette as unknown as Palette);
}

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
