import { useEffect, useRef } from "preact/hooks";
import { type Camera, CameraAt } from "../parts/picture-at.tsx";
import { coverTile, paintTiles, type Tile, tilesOf } from "./film-tiles.ts";
import type { LookProps } from "./look-props.ts";
import { timeToShow } from "./place-at.ts";
import type { Span } from "./preview-window.ts";
import type { OpenedTopic } from "./requests.ts";
import { useSize } from "./use-size.ts";

interface PicturesProps {
  readonly window: Span;
  /** The topics that are shown. */
  readonly topics: readonly string[];
  readonly cameras: readonly Camera[];
  /** The first camera among what is shown; undefined while it is read, and where there is none. */
  readonly look: LookProps | undefined;
}

/**
 * Shows what a camera saw in equal parts of the window: those pictures that are known of the recording, and once its messages were read, the
 * ones that the preview decodes.
 */
export function FilmPictures({ window, topics, cameras, look }: PicturesProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(frame);
  const tiles = tilesOf(window, size.widthPx);
  const camera = cameras.find(({ topic }) => (look ? topic === look.topic.topic : topics.includes(topic)));
  const { session, topic, originNs } = look ?? {};
  useEffect(() => {
    const drawing = new AbortController();
    const draw = startPainting(canvas.current!, size);
    if (session && topic && originNs !== undefined) {
      const pictureAt = async (endNs: bigint) => {
        const { timeNs, bitmap } = await session.ask("image", lastBefore(topic, Number(endNs - originNs)));
        return { timeNs: originNs + BigInt(Math.round(timeNs)), bitmap };
      };
      void paintTiles(tiles, { draw, pictureAt, signal: drawing.signal });
    }
    return () => drawing.abort();
  }, [session, topic, window.startNs, window.endNs, size.widthPx, size.heightPx]);
  return (
    <div ref={frame} class="film-pictures" aria-hidden="true">
      {camera && tiles.map((tile) => <Known key={tile.leftPx} {...{ camera, tile }} />)}
      <canvas ref={canvas} />
    </div>
  );
}

function lastBefore(topic: OpenedTopic, timeNs: number) {
  return { topic: topic.topic, timeNs: timeToShow(topic, timeNs - 1) };
}

/** Shows the picture that is known of a part; nothing where its time lies in another one. */
function Known({ camera, tile: { startNs, endNs, leftPx, widthPx } }: { camera: Camera; tile: Tile }) {
  const atNs = camera.times.find((time) => time >= startNs && time < endNs);
  if (atNs === undefined) return null;
  return (
    <div class="film-known" style={{ left: `${leftPx}px`, width: `${widthPx}px` }}>
      <CameraAt {...{ camera, atNs }} />
    </div>
  );
}

/** Empties the canvas, and returns what draws a part of a picture into a tile of it. */
function startPainting(canvas: HTMLCanvasElement, { widthPx, heightPx }: { widthPx: number; heightPx: number }) {
  canvas.width = widthPx * devicePixelRatio;
  canvas.height = heightPx * devicePixelRatio;
  const context = canvas.getContext("2d")!;
  context.scale(devicePixelRatio, devicePixelRatio);
  return (bitmap: ImageBitmap, tile: Tile) => {
    const { x, y, width, height } = coverTile(bitmap, { width: tile.widthPx, height: heightPx });
    context.drawImage(bitmap, x, y, width, height, tile.leftPx, 0, tile.widthPx, heightPx);
  };
}
