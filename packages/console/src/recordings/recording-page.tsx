import {
  attachments as contracts,
  importQueue,
  type Recording,
  type RecordingAttachment,
  recordings,
} from "@downlink/protocol";
import { useLocation, useRoute } from "preact-iso";
import { type Query, useQuery } from "../api/use-query.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { formatBytes } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { pagePath, useProjectId } from "../url/project.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import { useNeighbours } from "./neighbours.ts";
import "./recording.css";
import { RecordingHeader } from "./recording-header.tsx";
import { recordingParams, TABS } from "./recording-params.ts";

const NAMES = { preview: "Views", overview: "Overview", attachments: "Attachments", history: "History" } as const;

/** Each tab is loaded when it is shown; the code that reads and draws messages is as large as the rest of the page. */
const PreviewTab = lazyPart(() => import("./preview-tab.tsx").then((part) => part.PreviewTab));
const Overview = lazyPart(() => import("./overview.tsx").then((part) => part.Overview));
const History = lazyPart(() => import("./history.tsx").then((part) => part.History));

/** While something happens to a recording, and while nothing does. */
const POLL_MS = { moving: 3000, resting: 30_000 };
/** A queue may be longer; then a recording's place in it is not shown. */
const QUEUE_LIMIT = 500;

/** Shows one recording: where it is, what is in it, and its history. */
export function RecordingPage() {
  const projectId = useProjectId()!;
  const keyOrId = useRoute().params.id!;
  const params = useParams(recordingParams);
  const found = useQuery(recordings.get, { keyOrId, projectId }, { pollMs: POLL_MS.resting });
  const recording = found.isOld ? undefined : found.data;
  return (
    <div class="recording-page stack">
      <UrlProblems problems={params.problems} />
      <ProgressLine isOn={found.isLoading && !recording} />
      {found.failure && <Failed failure={found.failure} again={found.again} />}
      {found.failure?.kind === "missing" && <a href={pagePath(projectId, "recordings")}>All recordings</a>}
      {recording && <Shown key={recording.id} {...{ recording, params }} />}
    </div>
  );
}

interface ShownProps {
  readonly recording: Recording;
  readonly params: UrlParams<typeof recordingParams>;
}

function Shown({ recording, params }: ShownProps) {
  const isMoving = [recording, ...(recording.cuts ?? [])].some(isOnItsWay);
  const pollMs = isMoving ? POLL_MS.moving : undefined;
  useQuery(recordings.get, { keyOrId: recording.id, projectId: recording.projectId }, { pollMs, isEnabled: isMoving });
  const queue = useQuery(
    importQueue.list,
    { deviceId: recording.device?.id, projectId: recording.projectId, limit: QUEUE_LIMIT },
    { isEnabled: recording.importStatus === "pending", pollMs },
  );
  const queued = queue.data?.find(({ recordingId }) => recordingId === recording.id);
  const attachments = useAttachments(recording);
  useNeighbourKeys(recording);
  const usual = recording.importStatus === "complete" ? "preview" : "overview";
  const shown = params.values.tab || usual;
  const tabs = TABS.map((tab) => ({
    name: NAMES[tab],
    href: params.hrefWith({ tab: tab === usual ? "" : tab }),
    isCurrent: shown === tab,
    ...(tab === "attachments" && attachments.data ? { count: attachments.data.length } : {}),
  }));
  return (
    <>
      <RecordingHeader {...{ recording, queued }} />
      <Tabs label="Parts of the recording" tabs={tabs} />
      {shown === "overview" && <Overview {...{ recording, params }} />}
      {shown === "preview" && <PreviewTab {...{ recording, params }} />}
      {shown === "attachments" && <Attachments {...{ recording, attachments }} />}
      {shown === "history" && <History {...{ recording, queued }} />}
    </>
  );
}

function isOnItsWay({ importStatus }: Pick<Recording, "importStatus">): boolean {
  return importStatus === "pending" || importStatus === "importing";
}

function useNeighbourKeys(recording: Recording): void {
  const { route } = useLocation();
  const { before, after } = useNeighbours(recording);
  const go = (to: Recording | undefined) => to && route(pagePath(to.projectId, "recordings", to.id));
  useShortcuts([
    { keys: "[", does: "To the previous recording of the same device", run: () => go(before) },
    { keys: "]", does: "To the next recording of the same device", run: () => go(after) },
  ]);
}

function useAttachments({ id, importStatus }: Recording): Query<RecordingAttachment[]> {
  return useQuery(contracts.list, { recordingId: id, limit: 1000 }, { isEnabled: importStatus === "complete" });
}

interface AttachmentsProps {
  readonly recording: Recording;
  readonly attachments: Query<RecordingAttachment[]>;
}

function Attachments({ recording, attachments: { data, failure, again } }: AttachmentsProps) {
  if (failure) return <Failed failure={failure} again={again} />;
  if (recording.importStatus !== "complete") return <Empty title="Its attachments are known once it is imported." />;
  if (!data) return null;
  if (data.length === 0) return <Empty title="It has no attachments." />;
  return (
    <ul class="stack">
      {data.map(({ id, name, mediaType, size, logTime }) => (
        <li key={id} class="card row">
          <strong class="attachment-name">{name}</strong>
          <span class="muted">{mediaType}</span>
          <span class="muted">{formatBytes(size)}</span>
          <Time timeNs={logTime} />
          <span class="grow" />
          <a class="button small" href={`/v1/recording-attachments/${encodeURIComponent(id)}/download`}>
            Download
          </a>
        </li>
      ))}
    </ul>
  );
}
