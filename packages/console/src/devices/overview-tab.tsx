import { type AgentPoint, type Device, devices, edgeFiles, recordings } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { useQuery } from "../api/use-query.ts";
import { Advice } from "../parts/advice.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Copy } from "../parts/copy.tsx";
import { Facts } from "../parts/facts.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Age, ZonedTime } from "../parts/time.tsx";
import { pagePath } from "../url/project.ts";
import { ClonedAgent } from "./cloned-agent.tsx";
import { countFiles } from "./device-facts.ts";
import { DiskCard } from "./disk-card.tsx";
import { skewText } from "./health.ts";
import { RateCard } from "./rate-card.tsx";

interface TabProps {
  readonly device: Device;
  readonly projectId: string;
}

/** Shows how a device is: what is wrong and what to do, its disk, what it sends, and the facts about its agent. */
export function OverviewTab({ device, projectId }: TabProps) {
  const points = useAgentPoints({ device, projectId });
  return (
    <div class="stack">
      {device.agent?.cloned && <ClonedAgent {...{ device, projectId }} />}
      <Problems device={device} />
      <div class="device-cards">
        <DiskCard {...{ device, points }} />
        <RateCard {...{ device, points, projectId }} />
        <FilesCard {...{ device, projectId }} />
        <AgentCard device={device} />
      </div>
    </div>
  );
}

type Problem = NonNullable<NonNullable<Device["agent"]>["status"]>["problems"][number];

/** Lists the agent's problems, each with its meaning and what to do. */
function Problems({ device: { agent } }: { device: Device }) {
  const problems = agent?.status?.problems ?? [];
  if (problems.length === 0) return null;
  return (
    <section class="stack" aria-label="Problems">
      <h2>{problems.length === 1 ? "One problem" : `${problems.length} problems`}</h2>
      {!agent!.online && <p class="muted">As the agent reported at its last contact.</p>}
      {problems.map((problem) => (
        <One key={problem.code} problem={problem} />
      ))}
      <p class="row muted">
        To check everything around the agent, run on the device: <Copy text="agent doctor" />
      </p>
    </section>
  );
}

function One({ problem: { code, title, text, fix, since } }: { problem: Problem }) {
  return (
    <article class="problem">
      <header class="row">
        <h3 title={code}>{showHidden(title ?? code)}</h3>
        <span class="muted">
          since <Age timeNs={since} />
        </span>
      </header>
      <p>{showHidden(text)}</p>
      {fix !== undefined && <Advice text={fix} />}
    </article>
  );
}

const POLL_MS = 60_000;
const PAGE = 2000;

/** Asks for the points of seven days, which are a few more than one answer holds. */
function useAgentPoints({ device, projectId }: TabProps): readonly AgentPoint[] {
  const input = { nameOrId: device.id, projectId, limit: PAGE };
  const first = useQuery(devices.listAgentHistory, input, { pollMs: POLL_MS });
  const isMore = first.data?.length === PAGE;
  const rest = useQuery(devices.listAgentHistory, { ...input, offset: PAGE }, { pollMs: POLL_MS, isEnabled: isMore });
  return [...(first.data ?? []), ...((isMore && rest.data) || [])];
}

function FilesCard({ device, projectId }: TabProps) {
  const { data } = useQuery(recordings.summarize, { projectId, deviceId: device.id }, { pollMs: POLL_MS });
  const input = { deviceId: device.id, projectId, limit: PAGE };
  const { data: others } = useQuery(edgeFiles.list, input, { pollMs: POLL_MS });
  const { oldestNotImportedAt } = device.agent?.status ?? {};
  const filesPath = `${pagePath(projectId, "devices", device.name)}?tab=files`;
  const facts: FactList = [
    ...(data?.byStatus ?? []).map(({ importStatus, count, bytes }): FactList[number] => {
      return [STATUS_NAMES[importStatus], `${formatCount(count)}, ${formatBytes(bytes)}`];
    }),
    ["Cannot be imported", others?.length ? <a href={filesPath}>{countText(others.length)}</a> : undefined],
    ...(data && others ? restOfFiles(device, data.count + others.length) : []),
    ["Oldest not imported", oldestNotImportedAt !== undefined && <Age timeNs={oldestNotImportedAt} />],
  ];
  return <FactsCard title="Recordings and files" facts={facts} />;
}

function countText(count: number): string {
  return count < PAGE ? formatCount(count) : `${formatCount(PAGE)} or more`;
}

/** Names what the files on the device are besides the known recordings and files, so that all numbers add up. */
function restOfFiles(device: Device, known: number): FactList {
  const counts = countFiles(device);
  if (!counts) return [];
  const { onDevice, duplicate } = counts;
  const rest = onDevice - duplicate - known;
  return [
    ["Same content as another file", duplicate > 0 && formatCount(duplicate)],
    ["Not reported yet", rest > 0 && formatCount(rest)],
    ["No longer on the device", rest < 0 && `−${formatCount(-rest)}`],
    ["Files on the device", formatCount(onDevice)],
  ];
}

const STATUS_NAMES = {
  none: "On the device only",
  pending: "Requested",
  importing: "Processing",
  complete: "Imported",
  failed: "Failed",
} as const;

function AgentCard({ device: { agent, id, createdAt } }: { device: Device }) {
  const { bootedAt } = agent?.status ?? {};
  const machine = [agent?.hostname, agent?.platform, agent?.arch].filter((part) => part !== undefined).join(" · ");
  const facts: FactList = [
    ["Last seen", agent && <Age timeNs={agent.lastSeenAt} />],
    ["Version", agent?.version],
    ["Machine", machine],
    ["Clock", agent && (skewText(agent.clockSkewMs) ?? "right")],
    ["Machine started", bootedAt !== undefined && <Age timeNs={bootedAt} />],
    ["Added", <ZonedTime key="added" timeNs={createdAt} />],
    ["Id", <code key="id">{id}</code>],
  ];
  return <FactsCard title="Agent" facts={facts} />;
}

type FactList = readonly (readonly [name: string, value: ComponentChildren])[];

/** Unknown facts are left out. */
function FactsCard({ title, facts }: { title: string; facts: FactList }) {
  return (
    <section class="card stack" aria-label={title}>
      <h2>{title}</h2>
      <Facts facts={facts.filter(([, value]) => Boolean(value))} />
    </section>
  );
}
