import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type AgentSettings, edgeLimits } from "@downlink/protocol";
import { writeDurableFile } from "../durable/durable-file.ts";
import { durableWrites } from "../durable/durable-steps.ts";
import { noteCloudSettings } from "./cloud-settings.ts";
import type { KnownPause, KnownRetention, KnownServerTime, Suspects } from "./known-facts.ts";
import { StateRefused } from "./state-errors.ts";

const ownerFacts = [
  "machineId",
  "apiUrl",
  "orgId",
  "deviceId",
  "deviceName",
  "projectId",
  "projectName",
  "siteId",
  "siteName",
  "rootMarkerId",
  "cards",
] as const;
/** Whose state a directory holds. Learned in pieces: machine and URL at the first start, the rest from the cloud and the root. */
export type Owner = { readonly [K in (typeof ownerFacts)[number]]?: string | undefined };

/**
 * Facts about the state as a whole. Owner and root marker are also kept in a file beside the database: whoever loses
 * the database must not also forget which root was there, or an empty mount point would pass for an empty root.
 */
export interface StateFacts {
  owner(): Owner;
  /** Throws {@link StateRefused} when a known fact of the same name differs and may not change. */
  bind(facts: Owner): void;
  /** As `bind`, when the operator says that they are meant to change. */
  rebind(facts: Owner): void;
  /** Cards that belong to the store: known before anything is done about them. */
  noteCards(markerIds: readonly string[]): void;
  /** Which root is there, as the inventory has it already. */
  noteRoot(markerId: string): void;
  /** Ids in the markers of all cards that belong to the store; empty while there was never more than one. */
  cards(): readonly string[];
  /** Whether this state knows what is on the card. */
  hasSeenCard(markerId: string): boolean;
  noteCardSeen(markerId: string): void;
  /** Whether this state knows what is on every card: after a loss of the state it does not. */
  knowsAllCards(): boolean;
  /** The processes that said hello with this state last, the newest at the end. */
  instanceIds(): readonly string[];
  /** Before its first hello: that one may be answered without that we hear of it. */
  noteInstanceId(id: string): void;
  lastLease(): number | undefined;
  noteLease(lease: number): void;
  noteCloudSettings(settings: AgentSettings): void;
  /** Where the control plane wants bytes sent to. */
  noteDataUrl(url: string): void;
  /** The auto-import globs with which every file was told. */
  autoImportTold(): string | undefined;
  noteAutoImportTold(globs: string): void;
  /** The retention that was known last. */
  retention(): KnownRetention | undefined;
  noteRetention(retention: KnownRetention): void;
  /** An earlier agent did not hear how all imports ended: the answer to a listing says it. */
  areEndsUnknown(): boolean;
  noteEndsKnown(): void;
  /** Somebody on the device stopped uploads; undefined: nobody did, or it is over. */
  pause(): KnownPause | undefined;
  notePause(pause: KnownPause | undefined): void;
  /** What time the server said that it is, at which uptime since which start of the machine. */
  serverTime(): KnownServerTime | undefined;
  noteServerTime(known: KnownServerTime): void;
  /** The files during whose examination the agent died. */
  suspects(): Suspects;
  noteSuspects(suspects: Suspects): void;
}

const DATA_URL = "dataUrl";
const PAUSE = "pause";

export function readPause(database: DatabaseSync): KnownPause | undefined {
  const value = database.prepare("SELECT value FROM facts WHERE name = ?").get(PAUSE)?.value;
  return value === undefined ? undefined : (JSON.parse(String(value)) as KnownPause);
}

export function readDataUrl(database: DatabaseSync): string | undefined {
  return database.prepare("SELECT value FROM facts WHERE name = ?").get(DATA_URL)?.value as string | undefined;
}

export function openStateFacts(database: DatabaseSync, stateDir: string): StateFacts {
  const get = database.prepare("SELECT value FROM facts WHERE name = ?");
  const set = database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)");
  const read = (name: string) => get.get(name)?.value as string | undefined;
  const record = (name: string, value: string) =>
    durableWrites.traceSync(() => set.run(name, value), { what: "fact", name });
  const fromFile = readOwnerFile(stateDir);
  let owner: Owner = Object.fromEntries(ownerFacts.map((name) => [name, read(name) ?? fromFile[name]]));
  let instanceIds: readonly string[] = read("instanceIds")?.split(" ") ?? [];
  let lease = read("lease") === undefined ? undefined : Number(read("lease"));
  const rebind = (facts: Owner) => {
    const news = ownerFacts.filter((name) => facts[name] !== undefined && facts[name] !== read(name));
    if (news.length === 0) return;
    const next = { ...owner, ...facts };
    writeDurableFile(ownerPath(stateDir), `${JSON.stringify(next, null, 2)}\n`, 0o640);
    for (const name of news) record(name, facts[name]!);
    owner = next;
  };
  return {
    owner: () => owner,
    bind(facts) {
      refuseOther(owner, facts, stateDir);
      rebind(facts);
    },
    rebind,
    noteCards: (ids) => rebind({ cards: [...new Set([...wordsOf(owner.cards), ...ids])].join(" ") }),
    noteRoot(rootMarkerId) {
      owner = { ...owner, rootMarkerId };
      writeDurableFile(ownerPath(stateDir), `${JSON.stringify(owner, null, 2)}\n`, 0o600);
      if (read("rootMarkerId") !== rootMarkerId) record("rootMarkerId", rootMarkerId);
    },
    cards: () => wordsOf(owner.cards),
    hasSeenCard: (markerId) => wordsOf(read(SEEN_CARDS)).includes(markerId),
    noteCardSeen(markerId) {
      if (!wordsOf(read(SEEN_CARDS)).includes(markerId))
        record(SEEN_CARDS, [...wordsOf(read(SEEN_CARDS)), markerId].join(" "));
    },
    knowsAllCards() {
      const seen = new Set(owner.cards === undefined ? [] : wordsOf(read(SEEN_CARDS)));
      return wordsOf(owner.cards).every((card) => seen.has(card));
    },
    instanceIds: () => instanceIds,
    noteInstanceId(id) {
      if (instanceIds.includes(id)) return;
      const next = [...instanceIds, id].slice(-edgeLimits.formerInstances);
      record("instanceIds", next.join(" "));
      instanceIds = next;
    },
    lastLease: () => lease,
    noteLease(given) {
      lease = given; // Known to this process, even when it cannot be written.
      record("lease", String(given));
    },
    noteCloudSettings: (settings) => noteCloudSettings(database, settings),
    noteDataUrl(url) {
      if (read(DATA_URL) !== url) set.run(DATA_URL, url);
    },
    autoImportTold: () => read("autoImportTold"),
    noteAutoImportTold: (globs) => void set.run("autoImportTold", globs),
    retention: () => toRetention(read("retention")),
    noteRetention: ({ seconds, heldUntilNs }) => void record("retention", `${seconds} ${heldUntilNs}`),
    areEndsUnknown: () => read("endsUnknown") !== undefined,
    noteEndsKnown: () => void database.exec("DELETE FROM facts WHERE name = 'endsUnknown'"),
    pause: () => readPause(database),
    notePause(pause) {
      if (pause) record(PAUSE, JSON.stringify(pause));
      else database.prepare("DELETE FROM facts WHERE name = ?").run(PAUSE);
    },
    serverTime: () => toServerTime(read("serverTime")),
    suspects: () => JSON.parse(read("suspects") ?? '{"byKey":{}}') as Suspects,
    noteSuspects: (suspects) => void record("suspects", JSON.stringify(suspects)),
    noteServerTime: ({ bootId, serverTimeNs, atMs }) => void set.run("serverTime", `${bootId} ${serverTimeNs} ${atMs}`),
  };
}

/** In the database alone: whoever loses that has seen none. */
const SEEN_CARDS = "seenCards";

/** Stands among the cards for those of which nothing is known but that there may be some. */
export const UNKNOWN_CARDS = "?";

function wordsOf(text: string | undefined): string[] {
  return text ? text.split(" ") : [];
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

const fixed = [
  ["machineId", "was made on another machine"],
  ["apiUrl", "belongs to another control plane"],
  ["orgId", "belongs to another organization"],
  ["deviceId", "belongs to another device"],
  ["siteId", "belongs to another site"],
] as const;

function refuseOther(owner: Owner, facts: Owner, stateDir: string): void {
  const isOfOtherKind = (owner.deviceId && facts.siteId) || (owner.siteId && facts.deviceId);
  if (isOfOtherKind)
    throw new StateRefused(
      `the state in ${stateDir} belongs to ${owner.siteId ? `site ${owner.siteName}` : `device ${owner.deviceName}`}; for a ${facts.siteId ? "site" : "device"} give DOWNLINK_STATE_DIR an empty directory`,
    );
  for (const [name, complaint] of fixed) {
    const [known, given] = [owner[name], facts[name]];
    if (known === undefined || given === undefined || known === given) continue;
    throw new StateRefused(
      `the state in ${stateDir} ${complaint} (${name} ${known}, not ${given}). If the machine or the control plane changed, run \`agent enroll\` again; for another device give DOWNLINK_STATE_DIR an empty directory`,
    );
  }
}

function ownerPath(stateDir: string): string {
  return join(stateDir, "owner.json");
}

/** A file that cannot be read as what we wrote counts as none. */
export function readOwnerFile(stateDir: string): Owner {
  try {
    const parsed: unknown = JSON.parse(readFileSync(ownerPath(stateDir), "utf8"));
    return typeof parsed === "object" && parsed !== null ? (parsed as Owner) : {};
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
