import { type Me, type Site, sites } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { mayCall } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { CommandWords } from "../parts/command-words.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failed } from "../parts/failed.tsx";
import { Age } from "../parts/time.tsx";
import { formatDuration } from "../time/format-time.ts";
import { SITE_TYPES } from "./site-types.ts";

type Fact = readonly [name: string, value: ComponentChildren];

export function SiteFacts({ site, me }: { site: Site; me: Me }) {
  const { type, url, projectIds, retainRecordingsSeconds } = site;
  const nameOf = (id: string) => me.projects.find((project) => project.id === id)?.name ?? id;
  return (
    <>
      {site.agent?.cloned && <Cloned {...{ site, me }} />}
      {site.agent?.status?.problems.map(({ code, text, title, fix }) => (
        <div key={code} class="failure" role="status">
          <p>
            <strong>{title ?? code}.</strong> {text} {fix && <CommandWords text={fix} />}
          </p>
        </div>
      ))}
      <Facts
        facts={[
          ["Type", `${SITE_TYPES[type].name}: ${SITE_TYPES[type].meaning}`],
          ["For", projectIds.length === 0 ? "every project" : projectIds.map(nameOf).join(", ")],
          ...(url ? [["Address", url] as const] : []),
          ...(type === "edge" ? [["Keeps imported files", keeps(retainRecordingsSeconds)] as const] : []),
          ...processFacts(site),
          ...agentFacts(site),
        ]}
      />
    </>
  );
}

function keeps(seconds: number | undefined): string {
  return seconds === undefined || seconds === 0
    ? "for ever"
    : formatDuration(BigInt(Math.round(seconds)) * 1_000_000_000n);
}

function processFacts({ type, process }: Site): readonly Fact[] {
  if (type !== "self-hosted") return [];
  if (!process) return [["Process", "has never connected: make a token, and start it with that"]];
  const { programVersion, storeKind, lastSeenAt } = process;
  return [
    ["Last contact", <Age timeNs={lastSeenAt} />],
    ["Version", programVersion],
    ["Keeps its objects in", STORES[storeKind]],
  ];
}

const STORES = { file: "files", s3: "a bucket (S3)", azure: "a container of Azure" } as const;

function agentFacts({ type, agent }: Site): readonly Fact[] {
  if (type !== "edge") return [];
  if (!agent) return [["Agent", "has never connected: make a token, and start it with that"]];
  const { lastSeenAt, version, hostname, status } = agent;
  return [
    ["Last contact", <Age timeNs={lastSeenAt} />],
    ["Agent", `${version}${hostname ? ` on ${hostname}` : ""}`],
    ...(status?.disk
      ? [["Disk", `${formatBytes(status.disk.freeBytes)} free of ${formatBytes(status.disk.totalBytes)}`] as const]
      : []),
    ...(status
      ? [
          [
            "Files",
            Object.entries(status.files)
              .map(([state, count]) => `${formatCount(count)} ${state}`)
              .join(", ") || "none",
          ] as const,
        ]
      : []),
  ];
}

function Cloned({ site: { id }, me }: { site: Site; me: Me }) {
  const { run, isRunning, failure } = useChange(sites.releaseAgent, sites.get, sites.list);
  return (
    <div class="failure stack" role="alert">
      <p>
        <strong>Two agents work with copies of one state.</strong> Neither is served, so that nothing is overwritten.
        Stop one of them, delete its state, and go on.
      </p>
      {mayCall(me, sites.releaseAgent) && (
        <div class="row">
          <Button text="One is left: serve it again" disabled={isRunning} onClick={() => void run({ id })} />
        </div>
      )}
      {failure && <Failed failure={failure} />}
    </div>
  );
}
