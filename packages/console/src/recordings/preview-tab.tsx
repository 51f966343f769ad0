import { exportLinks, formatTimestamp, type Recording, type RecordingTopic, recordings } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { useMarking } from "../curate/use-marking.tsx";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { useCameras } from "../parts/picture-at.tsx";
import { chooseViews, MOST_VIEWS } from "../preview/choose-views.ts";
import { Preview } from "../preview/preview.tsx";
import { firstWindow, type PreviewChoice } from "../preview/preview-window.ts";
import type { PreviewWindow } from "../preview/use-slice.ts";
import { resolveRange } from "../time/range.ts";
import type { UrlParams } from "../url/use-params.ts";
import { readActivity } from "./activity.ts";
import { useFilmEvents } from "./film-events.ts";
import type { recordingParams } from "./recording-params.ts";

interface PreviewProps {
  readonly recording: Recording;
  readonly params: UrlParams<typeof recordingParams>;
}

const MAX_TOPICS = 2000;

export function PreviewTab({ recording, params }: PreviewProps) {
  const { id: keyOrId, projectId, importStatus } = recording;
  const topics = useQuery(recordings.topics, { keyOrId, projectId, limit: MAX_TOPICS });
  if (importStatus !== "complete")
    return <Empty title="There is nothing to see yet.">Messages can be seen once the recording is imported.</Empty>;
  if (topics.failure) return <Failed failure={topics.failure} again={topics.again} />;
  if (!topics.data) return null;
  const known = topics.data.filter(isShowable);
  const choice = choiceOf(recording, params.values, known);
  if (choice.topics.length === 0) return <Empty title="It has no messages." />;
  return <Shown {...{ recording, params, known, choice }} />;
}

interface ShownProps extends PreviewProps {
  readonly known: readonly RecordingTopic[];
  readonly choice: PreviewChoice;
}

function Shown({ recording, params, known, choice }: ShownProps) {
  const link = useChange(exportLinks.create);
  const linkTo = async ({ topics: names, startNs, endNs }: PreviewWindow) => {
    const selection = { recordingId: recording.id, topics: [...names], start: startNs, end: endNs };
    return (await link.run({ ...selection, compressionFormat: "" }))?.link;
  };
  const onChoose = ({ startNs, endNs, topics: chosen, lines }: Partial<PreviewChoice>) =>
    params.set({
      ...(startNs === undefined ? {} : { from: formatTimestamp(startNs), at: "" }),
      ...(endNs === undefined ? {} : { to: formatTimestamp(endNs) }),
      ...(chosen ? { topics: chosen } : {}),
      ...(lines ? { lines } : {}),
    });
  const { device, projectId } = recording;
  const { mark, dialog } = useMarking(projectId);
  const shown = {
    choice,
    known,
    linkTo,
    onChoose,
    onMark: mark && device && ((ns: bigint) => mark({ startNs: ns, endNs: ns, devices: [device.name] })),
    events: useFilmEvents(recording, choice),
    cameras: useCameras(recording),
    firstNs: resolveRange({ from: params.values.at, to: "" }, Date.now()).startNs,
  };
  const whole = { startNs: recording.start, endNs: recording.end };
  return (
    <>
      {link.failure && <Failed failure={link.failure} />}
      <Preview {...shown} recording={whole} density={densityOf(choice, known)} />
      {dialog}
    </>
  );
}

/** A topic whose schema changed stands in the list once for each. */
function isShowable({ topic, messageCount }: RecordingTopic, place: number, all: readonly RecordingTopic[]): boolean {
  return messageCount > 0 && all.findIndex((one) => one.topic === topic && one.messageCount > 0) === place;
}

const COLUMNS = 256;

/** Returns how busy the busiest of the chosen topics is in each part of the recording's time. */
function densityOf({ topics }: PreviewChoice, known: readonly RecordingTopic[]): number[] {
  const chosen = known.filter(({ topic, activity }) => topics.includes(topic) && activity !== null);
  const columns = chosen.map(({ activity }) => readActivity(activity!, COLUMNS));
  return Array.from({ length: COLUMNS }, (_, at) => Math.max(0, ...columns.map((ofTopic) => ofTopic[at]!)));
}

function choiceOf(
  { start, end }: Recording,
  values: PreviewProps["params"]["values"],
  known: readonly RecordingTopic[],
): PreviewChoice {
  const topics = values.topics.length > 0 ? values.topics.slice(0, MOST_VIEWS) : chooseViews(known);
  const starts = known
    .filter(({ topic }) => topics.includes(topic))
    .flatMap(({ start: at }) => (at === undefined ? [] : [at]));
  const firstMessageNs = starts.sort((a, b) => Number(a - b))[0];
  const usualWindow = firstWindow({ startNs: start, endNs: end }, firstMessageNs);
  const { startNs = usualWindow.startNs, endNs } = resolveRange(values, Date.now());
  const { lines } = values;
  return { topics, lines, startNs, endNs: endNs ?? firstWindow({ startNs: start, endNs: end }, startNs).endNs };
}
