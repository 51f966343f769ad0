import { formatTimestamp, type Output, type Recording, thumbnails } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatDuration } from "../time/format-time.ts";
import type { UrlParams } from "../url/use-params.ts";
import type { recordingParams } from "./recording-params.ts";

interface FilmProps {
  readonly recording: Recording;
  readonly params: UrlParams<typeof recordingParams>;
}

type FilmTopic = Output<typeof thumbnails.get>["topics"][number];

const POLL_MS = 3000;

/** Shows what the cameras of a recording saw. Each picture leads to the views at its time. */
export function Film({ recording, params }: FilmProps) {
  const { id, projectId, importStatus } = recording;
  const { data: me } = useMe();
  const isEnabled = importStatus === "complete" && may(me, "data.stream");
  const { data } = useQuery(thumbnails.get, { keyOrId: id, projectId }, { isEnabled });
  const isPending = isEnabled && data?.state === "pending";
  useQuery(
    thumbnails.get,
    { keyOrId: id, projectId },
    { isEnabled: isPending, pollMs: isPending ? POLL_MS : undefined },
  );
  if (!data || !isEnabled || data.topics.length === 0) return null;
  return (
    <section class="film stack" aria-label="Pictures of its cameras">
      {data.topics.map((topic) => (
        <FilmStrip key={topic.topic} {...{ topic, recording, params }} />
      ))}
    </section>
  );
}

function FilmStrip({
  topic: { topic, times, link, width, height },
  recording,
  params,
}: FilmProps & { topic: FilmTopic }) {
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
            <a key={time} href={hrefAt(params, { topic, time, recording })} title={sinceStart(time, recording)}>
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

const AROUND_NS = 2_000_000_000n;

function hrefAt(
  params: FilmProps["params"],
  { topic, time, recording: { start, end } }: { topic: string; time: bigint; recording: Recording },
): string {
  const from = time - AROUND_NS > start ? formatTimestamp(time - AROUND_NS) : "";
  const to = time + AROUND_NS < end ? formatTimestamp(time + AROUND_NS) : "";
  return params.hrefWith({ tab: "", topics: [topic], from, to, lines: [] });
}
