import type { DatabaseSync } from "node:sqlite";
import { type AgentSettings, edgeLimits } from "@downlink/protocol";
import { type CardFacts, createCardFacts } from "./card-facts.ts";
import { noteCloudSettings } from "./cloud-settings.ts";
import { type FactsTable, openFactsTable } from "./facts-table.ts";
import type { KnownLimits, KnownPause, KnownRetention, KnownServerTime, Suspects } from "./known-facts.ts";
import { type OwnerFacts, openOwner } from "./owner.ts";

/** Facts about the state as a whole. */
export interface StateFacts extends OwnerFacts, CardFacts, SessionFacts, CloudFacts {
  /** The pause that a user on the device began; undefined where there is none, or it is over. */
  pause(): KnownPause | undefined;
  notePause(pause: KnownPause | undefined): void;
  /** The disk limits of the operator; undefined: an agent of this state never looked at any. */
  limits(): KnownLimits | undefined;
  noteLimits(limits: KnownLimits): void;
  /** The files during whose examination the agent died. */
  suspects(): Suspects;
  noteSuspects(suspects: Suspects): void;
}

/** Which processes held which lease: by them the control plane knows a restarted agent again. */
interface SessionFacts {
  /** The processes that said hello with this state last, the newest at the end. */
  instanceIds(): readonly string[];
  /** Notes the id before the first hello of the process, because the answer to it may be lost. */
  noteInstanceId(id: string): void;
  lastLease(): number | undefined;
  noteLease(lease: number): void;
}

/** The facts that the control plane stated. */
interface CloudFacts {
  noteCloudSettings(settings: AgentSettings): void;
  /** Where the control plane wants bytes sent to. */
  noteDataUrl(url: string): void;
  /** The auto-import globs with which every file was reported. */
  reportedAutoImport(): string | undefined;
  noteReportedAutoImport(globs: string): void;
  /** The retention that was known last. */
  retention(): KnownRetention | undefined;
  noteRetention(retention: KnownRetention): void;
  /** An earlier agent did not learn how all imports ended: the answer to a listing says it. */
  areEndsUnknown(): boolean;
  noteEndsKnown(): void;
  /** The server's time, with the uptime of this machine at that moment and the start from which the uptime counts. */
  serverTime(): KnownServerTime | undefined;
  noteServerTime(known: KnownServerTime): void;
}

const DATA_URL = "dataUrl";
const LIMITS = "limits";
const PAUSE = "pause";
const REPORTED_AUTO_IMPORT = "autoImportTold";
const ENDS_UNKNOWN = "endsUnknown";

export function readPause(database: DatabaseSync): KnownPause | undefined {
  return toPause(openFactsTable(database).read(PAUSE));
}

export function readDataUrl(database: DatabaseSync): string | undefined {
  return openFactsTable(database).read(DATA_URL);
}

export function openStateFacts(database: DatabaseSync, stateDir: string): StateFacts {
  const table = openFactsTable(database);
  const owner = openOwner(table, stateDir);
  return {
    ...owner,
    ...createCardFacts(table, owner),
    ...createSessionFacts(table),
    ...createCloudFacts(table),
    noteCloudSettings: (settings) => noteCloudSettings(database, settings),
    pause: () => toPause(table.read(PAUSE)),
    notePause(pause) {
      if (pause) table.record(PAUSE, JSON.stringify(pause));
      else table.remove(PAUSE);
    },
    limits: () => toLimits(table.read(LIMITS)),
    noteLimits: (limits) => table.record(LIMITS, JSON.stringify(limits)),
    suspects: () => JSON.parse(table.read("suspects") ?? '{"byKey":{}}') as Suspects,
    noteSuspects: (suspects) => table.record("suspects", JSON.stringify(suspects)),
  };
}

function createSessionFacts(table: FactsTable): SessionFacts {
  let instanceIds: readonly string[] = table.read("instanceIds")?.split(" ") ?? [];
  let lease = table.read("lease") === undefined ? undefined : Number(table.read("lease"));
  return {
    instanceIds: () => instanceIds,
    noteInstanceId(id) {
      if (instanceIds.includes(id)) return;
      const next = [...instanceIds, id].slice(-edgeLimits.formerInstances);
      table.record("instanceIds", next.join(" "));
      instanceIds = next;
    },
    lastLease: () => lease,
    noteLease(given) {
      lease = given; // Known to this process, even when it cannot be written.
      table.record("lease", String(given));
    },
  };
}

function createCloudFacts(table: FactsTable): Omit<CloudFacts, "noteCloudSettings"> {
  return {
    noteDataUrl(url) {
      if (table.read(DATA_URL) !== url) table.note(DATA_URL, url);
    },
    reportedAutoImport: () => table.read(REPORTED_AUTO_IMPORT),
    noteReportedAutoImport: (globs) => table.note(REPORTED_AUTO_IMPORT, globs),
    retention: () => toRetention(table.read("retention")),
    noteRetention: ({ seconds, heldUntilNs }) => table.record("retention", `${seconds} ${heldUntilNs}`),
    areEndsUnknown: () => table.read(ENDS_UNKNOWN) !== undefined,
    noteEndsKnown: () => table.remove(ENDS_UNKNOWN),
    serverTime: () => toServerTime(table.read("serverTime")),
    noteServerTime: ({ bootId, serverTimeNs, atMs }) => table.note("serverTime", `${bootId} ${serverTimeNs} ${atMs}`),
  };
}

function toPause(text: string | undefined): KnownPause | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as KnownPause);
}

function toLimits(text: string | undefined): KnownLimits | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as KnownLimits);
}

function toRetention(text: string | undefined): KnownRetention | undefined {
  const [seconds, heldUntilNs] = text?.split(" ") ?? [];
  return heldUntilNs === undefined ? undefined : { seconds: Number(seconds), heldUntilNs: BigInt(heldUntilNs) };
}

function toServerTime(text: string | undefined): KnownServerTime | undefined {
  const [bootId, serverTimeNs, atMs] = text?.split(" ") ?? [];
  return bootId && serverTimeNs && atMs
    ? { bootId, serverTimeNs: BigInt(serverTimeNs), atMs: Number(atMs) }
    : undefined;
}
