import { SLACK, type Strip } from "./paint-row.ts";
import { binMsOf, startMsOf, type TileKey, tilesFor, type Window } from "./tiles.ts";

export interface Known<T> {
  readonly key: TileKey;
  readonly tile: T;
}

export interface PlannedStrip<T> extends Omit<Strip, "cells"> {
  readonly tile: T;
  readonly block: number;
}

/** Lays what is known out over the pixels of a window. A tile that stands for a finer one fills no more than the time of that one. */
export function planStrips<T>(window: Window, best: (key: TileKey) => readonly Known<T>[]): PlannedStrip<T>[] {
  return tilesFor(window).flatMap((wanted) =>
    best(wanted).flatMap(({ key, tile }) => {
      const fromMs = Math.max(startMsOf(wanted, window.view), startMsOf(key, window.view));
      const toMs = Math.min(endMsOf(wanted, window), endMsOf(key, window));
      const pixels = pixelsOf(window, fromMs, toMs);
      if (pixels.fromPx >= pixels.toPx) return [];
      return [
        { tile, block: wanted.block, startMs: startMsOf(key, window.view), binMs: binMsOf(key.level), ...pixels },
      ];
    }),
  );
}

function endMsOf({ level, index }: TileKey, { view }: Window): number {
  return startMsOf({ level, index: index + 1 }, view);
}

function pixelsOf({ view, widthPx }: Window, fromMs: number, toMs: number): { fromPx: number; toPx: number } {
  const pxPerMs = widthPx / view.spanMs;
  return {
    fromPx: Math.max(0, Math.floor((fromMs - view.fromMs) * pxPerMs + SLACK)),
    toPx: Math.min(widthPx, Math.ceil((toMs - view.fromMs) * pxPerMs - SLACK)),
  };
}
