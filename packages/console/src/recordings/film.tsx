import type { Recording } from "@downlink/protocol";
import { useFetched } from "../api/use-query.ts";
import { formatMany } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { pathAt } from "../parts/path-at.ts";
import { type Camera, type Thumbnails, useThumbnails } from "../parts/picture-at.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { TrackFigure } from "../preview/track.tsx";
import { formatDuration } from "../time/format-time.ts";
import { fetchTrack } from "./fetch-track.ts";

/** Shows what the cameras of a recording saw, and where its robot was. Each picture leads to the views at its time. */
export function Film({ recording }: { readonly recording: Recording }) {
  const found = useThumbnails(recording);
  if (!found) return null;
  const { state, topics, track, reason } = found;
  return (
    <section class="stack" aria-label="Pictures of its cameras, and its track">
      {state === "pending" && <p class="muted">Its pictures are being made.</p>}
      {reason && (
        <p class="muted">
          {state === "none" ? "No pictures" : "Fewer pictures"}: <ForeignText text={reason} />
        </p>
      )}
      {topics.map((camera) => (
        <FilmStrip key={camera.topic} {...{ camera, recording }} />
      ))}
      {track && <WholeTrack track={track} />}
    </section>
  );
}

/** A thinned track is shorter than the way itself, so that its length would be none. */
const formatPositions = (count: number) => formatMany(count, "position");

function WholeTrack({ track: { topic, link, count } }: { readonly track: Required<Thumbnails>["track"] }) {
  const { data, failure, again } = useFetched(["track", link], () => fetchTrack(link), {});
  if (failure) return <Failed {...{ failure, again }} />;
  return (
    <div>
      <p class="muted">
        <ForeignText text={topic} /> · <a href={link}>GeoJSON</a>
      </p>
      <div class="whole-track">
        <TrackFigure track={data} cursorNs={Number.POSITIVE_INFINITY} {...{ topic }} caption={formatPositions(count)} />
      </div>
    </div>
  );
}

function FilmStrip({ camera, recording }: { readonly camera: Camera; readonly recording: Recording }) {
  const { topic, times, link, width, height } = camera;
  return (
    <div>
      <p class="muted">
        <ForeignText text={topic} />
      </p>
      <div class="film-strip">
        <img
          src={link}
          alt={`${times.length} pictures of ${showHidden(topic)}`}
          width={width * times.length}
          height={height}
          loading="lazy"
        />
        <div class="film-times">
          {times.map((time) => (
            <a key={time} href={pathAt(recording, { topic, timeNs: time })} title={sinceStart(time, recording)}>
              <span class="unseen">{sinceStart(time, recording)}</span>
            </a>
          ))}
        </div>
      </div>
    </div>
  );
}

function sinceStart(time: bigint, { start }: Recording): string {
  return `${formatDuration(time - start)} after the start`;
}
