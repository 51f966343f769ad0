import { exportLinks, formatTimestamp, type Recording, type RecordingTopic, recordings } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { formatCount } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { toggleIn } from "../parts/selection.ts";
import { showHidden } from "../parts/show-hidden.ts";
import { Preview, type PreviewChoice } from "../preview/preview.tsx";
import { firstWindow } from "../preview/preview-window.ts";
import type { PreviewWindow } from "../preview/use-slice.ts";
import { resolveRange } from "../time/range.ts";
import type { UrlParams } from "../url/use-params.ts";
import type { recordingParams } from "./recording-params.ts";

interface PreviewProps {
  readonly recording: Recording;
  readonly params: UrlParams<typeof recordingParams>;
}

const MAX_TOPICS = 2000;
/** More cannot be read beside each other. */
const MAX_CHOSEN = 6;

export function PreviewTab({ recording, params }: PreviewProps) {
  const { id: keyOrId, projectId, importStatus } = recording;
  const topics = useQuery(recordings.topics, { keyOrId, projectId, limit: MAX_TOPICS });
  const link = useChange(exportLinks.create);
  if (importStatus !== "complete")
    return <Empty title="There is no preview yet.">Messages can be seen once the recording is imported.</Empty>;
  if (topics.failure) return <Failed failure={topics.failure} again={topics.again} />;
  if (!topics.data) return null;
  const choice = choiceOf(recording, params.values, topics.data);
  const linkTo = async ({ topics: names, startNs, endNs }: PreviewWindow) => {
    const selection = { recordingId: keyOrId, topics: [...names], start: startNs, end: endNs };
    return (await link.run({ ...selection, compressionFormat: "" }))?.link;
  };
  const onChoose = ({ startNs, endNs, topics: chosen, lines }: Partial<PreviewChoice>) =>
    params.set({
      ...(startNs === undefined ? {} : { from: formatTimestamp(startNs) }),
      ...(endNs === undefined ? {} : { to: formatTimestamp(endNs) }),
      ...(chosen ? { topics: chosen } : {}),
      ...(lines ? { lines } : {}),
    });
  return (
    <div class="preview-tab">
      <TopicPicker
        {...{ topics: topics.data, chosen: choice.topics, onChange: (chosen) => onChoose({ topics: chosen }) }}
      />
      <div class="stack">
        {link.failure && <Failed failure={link.failure} />}
        {choice.topics.length === 0 ? (
          <Empty title="Choose a topic." />
        ) : (
          <Preview {...{ choice, linkTo, onChoose, recording: { startNs: recording.start, endNs: recording.end } }} />
        )}
      </div>
    </div>
  );
}

function choiceOf(
  { start, end }: Recording,
  values: PreviewProps["params"]["values"],
  known: readonly RecordingTopic[],
): PreviewChoice {
  const first = known.find(({ messageCount }) => messageCount > 0)?.topic;
  const usual = first === undefined ? [] : [first];
  const topics = values.topics.length > 0 ? values.topics : usual;
  const starts = known
    .filter(({ topic }) => topics.includes(topic))
    .flatMap(({ start: at }) => (at === undefined ? [] : [at]));
  const firstMessageNs = starts.sort((a, b) => Number(a - b))[0];
  const usualWindow = firstWindow({ startNs: start, endNs: end }, firstMessageNs);
  const { startNs = usualWindow.startNs, endNs } = resolveRange(values, Date.now());
  const { lines } = values;
  return { topics, lines, startNs, endNs: endNs ?? firstWindow({ startNs: start, endNs: end }, startNs).endNs };
}

interface PickerProps {
  readonly topics: readonly RecordingTopic[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function TopicPicker({ topics, chosen, onChange }: PickerProps) {
  const names = [...new Map(topics.map((topic) => [topic.topic, topic])).values()];
  const toggle = (name: string) => onChange(toggleIn(chosen, name));
  return (
    <fieldset class="topic-picker">
      <legend>Topics</legend>
      {names.map(({ topic, schemaName, messageCount }) => {
        const isOn = chosen.includes(topic);
        return (
          <label key={topic} title={showHidden(schemaName)}>
            <input
              type="checkbox"
              checked={isOn}
              disabled={messageCount === 0 || (!isOn && chosen.length >= MAX_CHOSEN)}
              onChange={() => toggle(topic)}
            />
            <span class="cut">
              <ForeignText text={topic} />
            </span>
            <span class="muted number">{formatCount(messageCount)}</span>
          </label>
        );
      })}
    </fieldset>
  );
}
