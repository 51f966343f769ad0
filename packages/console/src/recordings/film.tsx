import type { Recording } from "@downlink/protocol";
import { ForeignText } from "../parts/foreign-text.tsx";
import { type Camera, pathAt, useCameras } from "../parts/picture-at.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatDuration } from "../time/format-time.ts";

/** Shows what the cameras of a recording saw. Each picture leads to the views at its time. */
export function Film({ recording }: { readonly recording: Recording }) {
  const cameras = useCameras(recording);
  if (cameras.length === 0) return null;
  return (
    <section class="film stack" aria-label="Pictures of its cameras">
      {cameras.map((camera) => (
        <FilmStrip key={camera.topic} {...{ camera, recording }} />
      ))}
    </section>
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
