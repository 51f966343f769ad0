import { type Output, type Recording, thumbnails } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { timeText } from "../time/zone.ts";
import { pathAt } from "./path-at.ts";
import { showHidden } from "./show-hidden.ts";
import "./picture-at.css";

export type Thumbnails = Output<typeof thumbnails.get>;
export type Camera = Thumbnails["topics"][number];
type Pictured = Pick<Recording, "id" | "projectId" | "importStatus" | "start" | "end">;

const POLL_MS = 3000;

/** Returns what the cameras of a recording saw; none while it is not known. */
export function useCameras(recording: Pictured): readonly Camera[] {
  return useThumbnails(recording)?.topics ?? [];
}

/** Returns the pictures and the track of a recording; undefined while they are not known. */
export function useThumbnails({ id: keyOrId, projectId, importStatus }: Pictured): Thumbnails | undefined {
  const { data: me } = useMe();
  const isEnabled = importStatus === "complete" && may(me, "data.stream");
  const { data, isOld } = useQuery(thumbnails.get, { keyOrId, projectId }, { isEnabled });
  const isPending = isEnabled && data?.state === "pending";
  useQuery(thumbnails.get, { keyOrId, projectId }, { isEnabled: isPending, pollMs: isPending ? POLL_MS : undefined });
  return isEnabled && !isOld ? data : undefined;
}

interface PictureProps {
  readonly recording: Pictured;
  readonly atNs: bigint;
}

/** Shows what the first camera of the first of some recordings that has pictures saw nearest to a time; nothing where none has. */
export function PictureAt({ recordings: [first, ...others], ...shown }: PictureAtProps) {
  return first ? <FirstOf key={first.id} {...{ first, others, ...shown }} /> : null;
}

interface Shown {
  readonly atNs: bigint;
  /** Returns what stands below the picture of a time. */
  readonly captionOf?: (timeNs: bigint) => string;
}

interface PictureAtProps extends Shown {
  readonly recordings: readonly Pictured[];
}

interface FirstProps extends Shown {
  readonly first: Pictured;
  readonly others: readonly Pictured[];
}

function FirstOf({ first, others, ...shown }: FirstProps) {
  const found = useThumbnails(first);
  if (!found) return null;
  const [camera] = found.topics;
  return camera ? <CameraAt {...{ camera, ...shown }} /> : <PictureAt {...{ recordings: others, ...shown }} />;
}

const MOST_PICTURED = 4;

/** Shows what all cameras of the first recordings that are here saw nearest to a time. Each picture leads to the views at that time. */
export function Pictures({ recordings, atNs }: { recordings: readonly Pictured[]; atNs: bigint }) {
  const pictured = recordings.filter(({ importStatus }) => importStatus === "complete").slice(0, MOST_PICTURED);
  return (
    <div class="pictures">
      {pictured.map((recording) => (
        <OfRecording key={recording.id} {...{ recording, atNs }} />
      ))}
    </div>
  );
}

function OfRecording({ recording, atNs }: PictureProps) {
  return useCameras(recording).map((camera) => (
    <a
      key={camera.topic}
      href={pathAt(recording, { topic: camera.topic, timeNs: atNs })}
      title={showHidden(camera.topic)}
    >
      <CameraAt {...{ camera, atNs, captionOf: timeText }} />
    </a>
  ));
}

const MOST_HEIGHT_PX = 240;

/** Shows the picture of a camera that is nearest to a time: one of those that lie side by side in its strip. */
export function CameraAt({ camera, atNs, captionOf }: Shown & { readonly camera: Camera }) {
  const { topic, times, link, width, height } = camera;
  const place = nearest(times, atNs);
  return (
    <>
      <div
        class="picture-at"
        role="img"
        aria-label={`Picture of ${showHidden(topic)}`}
        style={{
          width: `min(100%, ${(MOST_HEIGHT_PX * width) / height}px)`,
          aspectRatio: `${width} / ${height}`,
          backgroundImage: `url(${JSON.stringify(link)})`,
          backgroundSize: `${100 * times.length}% 100%`,
          backgroundPositionX: `${(100 * place) / Math.max(1, times.length - 1)}%`,
        }}
      />
      {captionOf && <p class="muted picture-caption">{captionOf(times[place]!)}</p>}
    </>
  );
}

function nearest(times: readonly bigint[], atNs: bigint): number {
  const off = times.map((time) => Math.abs(Number(time - atNs)));
  return off.indexOf(Math.min(...off));
}
