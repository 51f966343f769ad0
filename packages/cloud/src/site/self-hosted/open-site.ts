import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { api } from "@downlink/protocol";
import { openTracing, type TraceSettings } from "@downlink/tracing";
import type { Hono } from "hono";
import type { Logger } from "pino";
import { openFileIndexer } from "../../background/indexing/file-indexer.ts";
import type { Env } from "../../calls/connections/env.ts";
import { ConfigError } from "../../core/config-error.ts";
import { PROGRAM_VERSION } from "../../core/program-version.ts";
import { StopSteps } from "../../core/stop-steps.ts";
import { traceStore } from "../../keeping/stores/trace-store.ts";
import type { Limits } from "../../process/limits/limits.ts";
import { createTurns } from "../../process/limits/turns.ts";
import { createMetrics } from "../../process/metrics/metrics.ts";
import type { BucketSettings, StoreSettings } from "../../store/bucket-uploads/store-address.ts";
import type { Caller } from "./call-control-plane.ts";
import { Inbox } from "./inbox.ts";
import { openInboxPlace } from "./open-inbox-place.ts";
import { openSiteStore } from "./open-site-store.ts";
import { recoverFiles } from "./received-files.ts";
import { createSiteApp } from "./site-app.ts";
import { SiteClock } from "./site-clock.ts";
import type { SiteDeps } from "./site-deps.ts";
import { SiteLoops } from "./site-loops.ts";
import { SiteMemory } from "./site-memory.ts";
import { SiteSession } from "./site-session.ts";
import { SiteSigner } from "./site-signer.ts";
import { markStart } from "./site-store.ts";

const SQLITE_BUSY = 5;

interface SiteSettings extends StoreSettings {
  readonly dataDir: string;
  /** The folder whose files are imported; undefined: there is none. */
  readonly inboxDir?: string | undefined;
  /** The bucket, and the beginning of the names in it, whose objects are imported; undefined: there are none. */
  readonly inboxBucket?: BucketSettings | undefined;
  readonly publicUrl: string | undefined;
  readonly linkOrigins: readonly string[];
  readonly exportsWholeChunks: boolean;
  /** Where traces go; undefined: nothing is traced. */
  readonly tracing?: TraceSettings | undefined;
  readonly limits: Limits;
}

/** A self-hosted site that is ready to serve. */
export interface OpenSite extends AsyncDisposable {
  readonly app: Hono<Env>;
  readonly metrics: SiteDeps["metrics"];
  readonly log: Logger;
  /** Begins to talk with the control plane, once the site listens at this address. */
  begin(listening: string): void;
  beginStopping(): void;
}

interface Opening {
  readonly caller: Caller;
  /** The operator says that the store takes the place of a lost one. */
  readonly isStoreAccepted?: boolean;
  readonly log: Logger;
  /** Knows what is being closed, for a process that was told to stop and does not end. */
  readonly stopSteps?: StopSteps;
}

/** Opens the store and the folder of a site, and completes what a killed process left half done. */
export async function openSite(
  settings: SiteSettings,
  { caller, log, isStoreAccepted = false, stopSteps = new StopSteps() }: Opening,
): Promise<OpenSite> {
  await using opened = new AsyncDisposableStack();
  const stopping = new AbortController();
  const address = addressOf(settings);
  const metrics = createMetrics();
  const tracing = opened.use(openTracing(settings.tracing, { warn: (message) => log.warn(message) }));
  const parts = await openParts(opened, settings, { publicUrl: address.publicUrl, metrics, log });
  const deps: SiteDeps = {
    ...{ ...parts, log, metrics, tracing, stopping: stopping.signal, limits: settings.limits },
    blobs: traceStore(parts.blobs, tracing),
    dataDir: settings.dataDir,
    indexer: stopSteps.use(opened, "the threads that index", openFileIndexer()),
    turns: createTurns(settings.limits.turns),
    linkOrigins: settings.linkOrigins,
    readsWholeChunks: settings.exportsWholeChunks,
  };
  const about = { caller, programVersion: PROGRAM_VERSION, publicUrl: address.publicUrl, isStoreAccepted };
  const session = new SiteSession({ ...about, ...parts, log, stopping: stopping.signal });
  const loops = new SiteLoops(deps, session);
  const place = await openInboxPlace(opened, settings, { log, metrics });
  const inbox = place && new Inbox({ ...deps, session, place, onReceived: () => loops.reportSoon() });
  const closing = opened.move();
  let running: Promise<unknown> | undefined;
  const beginStopping = () => stopping.abort(new Error("stopping"));
  return {
    app: createSiteApp(deps, {
      onReceived: () => loops.reportSoon(),
      readSelection: (id) => readSelection(session, id),
    }),
    ...{ metrics: deps.metrics, log, beginStopping },
    begin(listening) {
      address.set(listening);
      running = Promise.all([loops.run(), inbox?.run()]);
    },
    async [Symbol.asyncDispose]() {
      beginStopping();
      await running;
      await closing.disposeAsync();
    },
  };
}

/** An address that the operator set stays; else it is the one that is listened on. */
function addressOf({ publicUrl }: SiteSettings) {
  let known = publicUrl;
  return {
    publicUrl: () => known ?? "",
    set(listening: string) {
      known ??= listening;
    },
  };
}

interface Common extends Pick<SiteDeps, "metrics" | "log"> {
  readonly publicUrl: () => string;
}

async function openParts(opened: AsyncDisposableStack, settings: SiteSettings, common: Common) {
  const { dataDir } = settings;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  opened.use(lockFolder(dataDir));
  const instanceId = randomBytes(16).toString("hex");
  const memory = await SiteMemory.open(dataDir, instanceId);
  const clock = new SiteClock(memory.facts?.clockAheadMs ?? 0);
  const signer = new SiteSigner();
  if (memory.facts) signer.use(memory.facts);
  const { kind, blobs, uploadRecords } = await openSiteStore(opened, settings, { ...common, dataDir, signer, clock });
  const store = { kind, ...(await markStart(blobs)) };
  const forgotten = uploadRecords?.follow(store.marks) ?? 0;
  if (forgotten > 0)
    common.log.warn({ forgotten }, "unfinished uploads start over: their records are of another store");
  await recoverFiles(blobs, { isShared: uploadRecords !== undefined });
  return { instanceId, memory, clock, signer, blobs, uploadRecords, store };
}

async function readSelection(session: SiteSession, id: string): Promise<Uint8Array> {
  const { data } = await session.call(api.site.selection, { id });
  return Buffer.from(data, "base64");
}

/** Holds the data folder until disposed of, or until the process ends in whatever way. Throws if another process has it. */
function lockFolder(dir: string): Disposable {
  const database = new DatabaseSync(join(dir, "site.lock"));
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new ConfigError([`DOWNLINK_DATA_DIR: ${dir} is in use by another process`]);
  }
  return { [Symbol.dispose]: () => database.close() };
}
