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
