import type { Recording } from "@downlink/protocol";
import { useRef, useState } from "preact/hooks";
import { fetchThumbnail } from "../api/fetch-thumbnail.ts";
import { may, useMe } from "../api/me.ts";
import { useFetched } from "../api/use-query.ts";
import { usePause } from "../browser/use-pause.ts";
import { formatDuration } from "../time/format-time.ts";
import { CameraAt, useCameras } from "./picture-at.tsx";
import "./still.css";

/** Shows what a camera of a recording saw in its middle; nothing where there is no picture. Below a mouse its others are shown, larger. */
export function Still({ recording }: { readonly recording: Recording }) {
  const { id, importStatus, start, end } = recording;
  const { data: me } = useMe();
  const isEnabled = importStatus === "complete" && may(me, "data.stream");
  const { data, isOld } = useFetched(["thumbnail", id], () => fetchThumbnail(id), { isEnabled });
  const [share, setShare] = useState<number | undefined>();
  const image = useRef<HTMLImageElement>(null);
  const isBelow = share !== undefined;
  const hasRested = usePause(isBelow, RESTED_MS) && isBelow;
  if (!data || isOld || !isEnabled) return null;
  const onPointerMove = ({ pointerType, clientX }: PointerEvent) => {
    const { left, width } = image.current!.getBoundingClientRect();
    if (pointerType === "mouse") setShare(Math.min(1, Math.max(0, (clientX - left) / width)));
  };
  return (
    <span class="still-place" onPointerMove={onPointerMove} onPointerLeave={() => setShare(undefined)}>
      <img ref={image} class="still" src={data.link} alt="" loading="lazy" decoding="async" />
      {hasRested && (
        <Large {...{ recording, afterNs: BigInt(Math.round(share * Number(end - start))) }} of={image.current!} />
      )}
    </span>
  );
}

interface LargeProps {
  readonly recording: Recording;
  readonly afterNs: bigint;
  readonly of: HTMLElement;
}

/** A mouse that goes over a list asks for nothing. */
const RESTED_MS = 100;
const WIDTH_PX = 240;
const open = (card: HTMLElement | null) => card?.showPopover();

/** Shows a picture beside a small one, above all that scrolls. */
function Large({ recording, afterNs, of }: LargeProps) {
  const [camera] = useCameras(recording);
  const { right, left, top } = of.getBoundingClientRect();
  if (!camera) return null;
  const heightPx = Math.min((WIDTH_PX * camera.height) / camera.width, WIDTH_PX) + 32;
  const place = {
    width: `${WIDTH_PX}px`,
    left: `${right + WIDTH_PX + 16 < innerWidth ? right + 8 : Math.max(8, left - WIDTH_PX - 8)}px`,
    top: `${Math.max(8, Math.min(top - heightPx / 2, innerHeight - heightPx - 8))}px`,
  };
  return (
    <div class="still-large" popover="manual" ref={open} style={place} aria-hidden="true">
      <CameraAt {...{ camera, atNs: recording.start + afterNs }} />
      <p class="muted">{formatDuration(afterNs)} after the start</p>
    </div>
  );
}
