import { cp, glob, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ApiCallError, type Client } from "@downlink/client";
import { copyDatabase, readStoredObjects, restoreDatabase } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { type ExternalPostgres, startExternalPostgres } from "../processes/external-postgres.ts";
import { type FaultBed, makeFolder, openFaultBed, untilAnswered } from "./fault-bed.ts";
import type { Losses } from "./invariants.ts";
import { files, type Robot, recordingsOf } from "./robot.ts";

/** A control plane whose database and object store can be set back to copies that were made earlier. It is for one robot. */
export interface RestorableBed extends FaultBed {
  /** Copies both while nothing runs, and goes on. */
  copy(robot?: Robot): Promise<void>;
  /** Sets the database back to one of the copies while everything runs; `chance` in [0, 1) chooses it. */
  setDatabaseBack(chance: number): Promise<void>;
  /** Sets the database, the object store or both back while the control plane does not run. */
  setBack(what: { readonly database?: boolean; readonly store?: boolean }, robot: Robot, chance: number): Promise<void>;
  /** Sets the database back and removes an object that it needs, while the control plane does not run. */
  setBackWithoutObject(robot: Robot, chance: number): Promise<void>;
  /** Resolves once the control plane has noticed what was set back, and has recovered. */
  recovered(): Promise<void>;
  losses(): Losses;
}

interface Copy {
  readonly databaseUrl: string;
  readonly objects: string;
  /** How long the journal of the robot's agents was. */
  readonly journalChars: number;
}

const PATIENCE_MS = 660_000;
const PAUSE_MS = 500;
const HOUR_NS = 3_600_000_000_000n;

export async function openRestorableBed(): Promise<RestorableBed> {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startExternalPostgres(join(await makeFolder(stack), "postgres")));
  await postgres.query("CREATE DATABASE downlink");
  const databaseUrl = inDatabase(postgres.url, "downlink");
  const cloudEnv = { DATABASE_URL: databaseUrl };
  const bed = stack.use(await openFaultBed({ cloudEnv, crashPostgres: () => postgres.restart("SIGKILL") }));
  const { dataDir } = bed;
  const past: Past = { ...{ postgres, databaseUrl, dataDir }, copies: [], objects: [], spans: [], setBackAtNs: 0n };
  const recovered = async () => {
    const isOver = () => hasRecovered(past).catch(() => false);
    await eventually(isOver, (is) => is, PATIENCE_MS);
  };
  const admin = askAfterRecovery(past, { admin: () => bed.admin, recovered });
  const owned = stack.move();
  return {
    ...{ ...bed, admin, recovered },
    copy: (robot) => bed.crashCloud(() => copyBoth(past, robot)),
    setDatabaseBack: (chance) => setDatabaseBack(past, choose(past, chance)),
    setBack: (what, robot, chance) => bed.crashCloud(() => setBack(past, { ...what, robot, chance })),
    setBackWithoutObject: (robot, chance) =>
      bed.crashCloud(async () => {
        await setDatabaseBack(past, choose(past, chance));
        await lose(past, { robot, from: await journalOf(robot) }, () => removeUpload(objectsOf(past), chance));
      }),
    losses: () => past,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Asking {
  readonly admin: () => Client;
  readonly recovered: () => Promise<void>;
}

/**
 * Returns a client that repeats a call if it finds nothing: it does so once the control plane has recovered, which may know the thing then,
 * and again if the control plane was set back meanwhile.
 */
function askAfterRecovery(past: Past, { admin, recovered }: Asking): Client {
  return {
    callWithHeaders: (...asked) => admin().callWithHeaders(...asked),
    call: async (operation, ...input) => {
      for (let knownSinceNs: bigint | undefined; ; ) {
        try {
          return await admin().call(operation, ...input);
        } catch (failure) {
          if (!(failure instanceof ApiCallError && failure.code === "NotFound")) throw failure;
          if (knownSinceNs === past.setBackAtNs) throw failure;
        }
        await recovered();
        knownSinceNs = past.setBackAtNs;
      }
    },
  };
}

/** The database and the object store of a bed, their copies, and the losses so far. */
interface Past {
  readonly postgres: ExternalPostgres;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly copies: Copy[];
  readonly objects: string[];
  readonly spans: { from: number; until: number }[];
  /** When something was set back last. */
  setBackAtNs: bigint;
}

const objectsOf = ({ dataDir }: Past) => join(dataDir, "objects");
const choose = ({ copies }: Pick<Past, "copies">, chance: number) => copies[Math.floor(chance * copies.length)]!;

async function copyBoth(past: Past, robot: Robot | undefined): Promise<void> {
  const objects = `${objectsOf(past)}-${past.copies.length}`;
  await cp(objectsOf(past), objects, { recursive: true });
  const journalChars = robot ? await journalOf(robot) : 0;
  past.copies.push({ databaseUrl: await copyDatabase(past.databaseUrl), objects, journalChars });
}

interface SettingBack {
  readonly database?: boolean;
  readonly store?: boolean;
  readonly robot: Robot;
  readonly chance: number;
}

async function setBack(past: Past, { database, store, robot, chance }: SettingBack): Promise<void> {
  if (database) await setDatabaseBack(past, choose(past, chance));
  if (!store) return;
  // A store of before the robot was known would not know of it, and then a database of before neither.
  const { journalChars, objects } = choose({ copies: past.copies.slice(1) }, chance);
  await lose(past, { robot, from: journalChars }, () => replace(objectsOf(past), objects));
}

async function setDatabaseBack(past: Past, copy: Copy): Promise<void> {
  past.setBackAtNs = nowNs() + HOUR_NS; // until it is done, nothing has recovered from it
  await restoreDatabase(past.databaseUrl, copy.databaseUrl);
  past.setBackAtNs = nowNs();
}

/** Removes something from the object store, and notes what it does not have any more. */
async function lose(past: Past, { robot, from }: { robot: Robot; from: number }, remove: () => Promise<void>) {
  const before = await readStoredObjects(past.dataDir);
  await remove();
  const left = new Set((await readStoredObjects(past.dataDir)).map(({ key }) => key));
  past.objects.push(...before.flatMap(({ key, sha256 }) => (left.has(key) ? [] : [sha256])));
  past.spans.push({ from, until: await journalOf(robot) });
  past.setBackAtNs = nowNs();
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function inDatabase(url: string, name: string): string {
  const named = new URL(url);
  named.pathname = `/${name}`;
  return named.href;
}

async function journalOf({ journal }: Robot): Promise<number> {
  return (await readFile(journal, "utf8").catch(() => "")).length;
}

async function replace(folder: string, copy: string): Promise<void> {
  await rename(folder, `${folder}-former`);
  await cp(copy, folder, { recursive: true });
  await rm(`${folder}-former`, { recursive: true });
}

/** Removes the object of one upload, if there is any. */
async function removeUpload(objects: string, chance: number): Promise<void> {
  const paths = (await Array.fromAsync(glob(join(objects, "??", "org_*+upl_*")))).filter(
    (path) => !basename(path).includes("."),
  );
  const path = paths.sort()[Math.floor(chance * paths.length)];
  if (path !== undefined) await rm(path);
}

/** Store and database were compared since, by what this Postgres has now, and nothing is left to do. */
async function hasRecovered({ postgres: { query }, databaseUrl, setBackAtNs }: Past): Promise<boolean> {
  const [row] = await query<{ has: boolean }>(
    `SELECT m."confirmedAtNs" > ${setBackAtNs} AND m.postgres LIKE '%' || pg_relation_filepath('"Deployment"')
      AND d."recoveringSinceNs" IS NULL AND d.conflict IS NULL AS has
    FROM "Deployment" d JOIN "DeploymentMark" m ON m.id = 1 WHERE d.id = 1`,
    databaseUrl,
  );
  return row?.has ?? false;
}

/**
 * A request that was made after a copy is not in it; a person who misses the file requests it again, once the control plane has found what it
 * has of it.
 */
export async function requestAgain(bed: RestorableBed, robot: Robot, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await bed.recovered();
    const all = await untilAnswered(
      () => recordingsOf(bed, robot),
      () => true,
    );
    for (const { id, path, importStatus } of all)
      if (importStatus === "none" && (path === files.small || path === files.large))
        await untilAnswered(
          () => bed.admin.call(api.recordings.requestImport, { keyOrId: id }).catch(ignoreRefusal),
          () => true,
        );
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

function ignoreRefusal(failure: unknown): void {
  if (!(failure instanceof ApiCallError && failure.status < 500)) throw failure;
}
