import { CUT_RECORD_NAME, type Recording, type RecordingTopic, recordings } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { PartList } from "../cuts/part-list.tsx";
import { formatCount } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatDuration } from "../time/format-time.ts";
import type { UrlParams } from "../url/use-params.ts";
import { readActivity } from "./activity.ts";
import { Film } from "./film.tsx";
import type { recordingParams } from "./recording-params.ts";

interface OverviewProps {
  readonly recording: Recording;
  readonly params: UrlParams<typeof recordingParams>;
}

/** More topics than these are shown only by the API. */
const MAX_TOPICS = 2000;
const COLUMNS = 64;

/** Shows the contents of a recording, without its messages. */
export function Overview({ recording, params }: OverviewProps) {
  const topics = useQuery(recordings.topics, {
    keyOrId: recording.id,
    projectId: recording.projectId,
    limit: MAX_TOPICS,
  });
  return (
    <div class="stack">
      {recording.cuts && recording.cuts.length > 0 && <PartList recording={recording} cuts={recording.cuts} />}
      <Film recording={recording} />
      <ProgressLine isOn={topics.isLoading} />
      {topics.failure && <Failed failure={topics.failure} again={topics.again} />}
      {topics.data?.length === 0 && <Empty title="Its topics are not known." />}
      {topics.data && topics.data.length > 0 && <Topics {...{ topics: topics.data, recording, params }} />}
      <Metadata recording={recording} />
    </div>
  );
}

function Topics({ topics, recording, params }: OverviewProps & { topics: readonly RecordingTopic[] }) {
  const isHere = recording.importStatus === "complete";
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="topics-scroller" aria-label="Topics" tabIndex={0}>
      <table class="topics">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col" class="wide-only">
              Schema
            </th>
            <th scope="col" class="number">
              Messages
            </th>
            <th scope="col" class="number">
              Rate
            </th>
            <th scope="col" class="wide-only">
              Activity
            </th>
            <th scope="col">Longest silence</th>
          </tr>
        </thead>
        <tbody>
          {topics.map((topic) => (
            <TopicRow key={`${topic.topic} ${topic.version}`} {...{ topic, isHere, params }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TopicRow({
  topic,
  isHere,
  params,
}: Pick<OverviewProps, "params"> & { topic: RecordingTopic; isHere: boolean }) {
  const { messageCount, meanHz, maxGapNs } = topic;
  return (
    <tr>
      <th scope="row">
        {isHere ? (
          <a href={params.hrefWith({ tab: "", topics: [topic.topic], from: "", to: "", lines: [] })}>
            <ForeignText text={topic.topic} />
          </a>
        ) : (
          <ForeignText text={topic.topic} />
        )}
      </th>
      <td class="muted wide-only">
        <ForeignText text={topic.schemaName || topic.encoding || "—"} />
      </td>
      <td class="number">{formatCount(messageCount)}</td>
      <td class="number">{meanHz === undefined ? "—" : `${Number(meanHz.toPrecision(3))} Hz`}</td>
      <td class="wide-only">
        {topic.activity === null ? <span class="muted">not known</span> : <Activity bins={topic.activity} />}
      </td>
      <td class={isLongGap(topic) ? "gap-warn" : ""}>
        {maxGapNs === null ? "—" : formatDuration(BigInt(Math.round(maxGapNs)))}
      </td>
    </tr>
  );
}

/** Returns whether a gap is ten times the usual: then the robot was silent. */
function isLongGap({ maxGapNs, meanHz }: RecordingTopic): boolean {
  return maxGapNs !== null && meanHz !== undefined && maxGapNs > 10e9 / meanHz;
}

/** Shows when messages came, from the start of the recording to its end. */
function Activity({ bins }: { bins: string }) {
  const columns = readActivity(bins, COLUMNS);
  const silent = columns.filter((part) => part === 0).length;
  const label =
    silent === 0 ? "Messages all the time" : `No messages in ${Math.round((100 * silent) / COLUMNS)} % of the time`;
  const bars = columns
    .map((part, index) => (part === 0 ? "" : `M${index} 16v${-Math.max(2, 15 * part)}h1V16z`))
    .join("");
  return (
    <svg class="activity" viewBox={`0 0 ${COLUMNS} 16`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <path d={bars} />
    </svg>
  );
}

function Metadata({ recording: { metadata, sessionKey, sessionId, key, cutOf } }: { recording: Recording }) {
  const session = sessionKey ?? sessionId;
  const known = [...(key ? [["Key", key] as const] : []), ...(session ? [["Session", session] as const] : [])];
  const shown = metadata.filter(({ name }) => !(cutOf && name === CUT_RECORD_NAME)); // the page says of what it is a part
  return (
    <div class="stack">
      {known.length > 0 && <Facts facts={known} />}
      {shown.map(({ name, metadata: entries }, index) => (
        <section key={`${name} ${index}`} class="card" aria-label={`Metadata ${showHidden(name)}`}>
          <h2>
            <ForeignText text={name || "Metadata"} />
          </h2>
          <Facts facts={Object.entries(entries).map(([entry, text]) => [entry, String(text)])} />
        </section>
      ))}
    </div>
  );
}
