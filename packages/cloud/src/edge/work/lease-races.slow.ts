import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ApiCallError, type Client, NetworkError } from "@downlink/client";
import { api, type CallInput, edgeLimits, LEASE_HEADER, type Operation } from "@downlink/protocol";
import { seededRandom } from "@downlink/recordings/testing";
import pg from "pg";
import { noLongerCloned } from "../../fleet/agents/agent-rows.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { helloBody, recordingItem } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { createTestDatabase } from "../../testing/test-database.ts";

const STEPS = 100;
/** The refusals that are expected while two processes compete for a lease, the control plane restarts and the database fails over. */
const EXPECTED = new Set(["LeaseLost", "LeaseHeldElsewhere", "Cloned", "ReportSuperseded", "Unavailable"]);

/** A process of an agent, with the contents of its state directory. */
interface Process {
  readonly instanceId: string;
  /** The lease of its own last hello. */
  lease: number | undefined;
  /** The lease that its state directory holds: its own, or that of the process before. */
  knownLease: number | undefined;
  readonly formerInstanceIds: readonly string[];
  etag: string | undefined;
  sequence: number;
}

/** One call, in the order in which calls began and ended. */
interface Call {
  readonly instanceId: string;
  lease: number;
  readonly beganAt: number;
  readonly endedAt: number;
}

type LeasedCall = (client: Client, options: { readonly headers: Record<string, string> }) => Promise<void>;

function newProcess(): Process {
  return {
    instanceId: randomUUID(),
    lease: undefined,
    knownLease: undefined,
    formerInstanceIds: [],
    etag: undefined,
    sequence: 0,
  };
}

/** Records every lease that was ever given and its holder, whether or not the answer arrived. */
const WRITE_DOWN_TAKINGS = `
  CREATE TABLE taking (lease bigint, "instanceId" text);
  CREATE FUNCTION write_down() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO taking VALUES (NEW."leaseNumber", NEW."leaseInstanceId"); RETURN NULL; END $$;
  CREATE TRIGGER "Agent_is_taken" AFTER INSERT OR UPDATE OF "leaseNumber", "leaseInstanceId" ON "Agent"
    FOR EACH ROW EXECUTE FUNCTION write_down()`;

/** A control plane and its database, which fail now and then, a clock that jumps, and two processes with one token. */
class Quarrel implements AsyncDisposable {
  readonly hellos: Call[] = [];
  readonly served: Call[] = [];
  clones = 0;
  readonly #closing = new AsyncDisposableStack();
  readonly #databaseUrl: string;
  readonly #dataDir: string;
  readonly #database: pg.Client;
  #cloud!: TestCloud;
  #ofCloud = new AsyncDisposableStack();
  #token = "";
  #order = 0;
  readonly #clock = createStoppedClock(1_800_000_000_000_000_000n);

  private constructor(databaseUrl: string, dataDir: string) {
    this.#databaseUrl = databaseUrl;
    this.#dataDir = dataDir;
    this.#database = new pg.Client(databaseUrl);
  }

  static async begin(): Promise<Quarrel> {
    const dataDir = await mkdtemp(join(tmpdir(), "downlink-lease-races-"));
    const quarrel = new Quarrel(await createTestDatabase({ after }), dataDir);
    quarrel.#closing.defer(() => rm(dataDir, { recursive: true }));
    await quarrel.#database.connect();
    quarrel.#closing.defer(() => quarrel.#database.end());
    await quarrel.#start();
    await quarrel.#database.query(WRITE_DOWN_TAKINGS);
    const { admin } = quarrel.#cloud;
    const device = await admin.call(api.devices.create, { name: "quarrelled-over" });
    quarrel.#token = (await admin.call(api.deviceTokens.create, { deviceId: device.id })).token!;
    return quarrel;
  }

  async restart(): Promise<void> {
    await this.#ofCloud.disposeAsync();
    await this.#start();
  }

  async #start(): Promise<void> {
    const stack = new AsyncDisposableStack();
    this.#ofCloud = stack;
    const options = {
      clock: this.#clock,
      works: false,
      dataDir: this.#dataDir,
      environment: { DATABASE_URL: this.#databaseUrl },
    };
    this.#cloud = await startCloud({ after: (close) => stack.defer(close) }, options);
  }

  /** Ends every connection, whatever it was doing, as a failover does. */
  async cutDatabase(): Promise<void> {
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    await this.#database.query(cut);
  }

  passSeconds(seconds: number): void {
    this.#clock.atNs += BigInt(seconds) * 1_000_000_000n;
  }

  /** Does what an operator does who says that only one of two clones is left. */
  async release(): Promise<void> {
    const { oustedInstanceId, oustedReturns, clonedAtNs, leaseExpiresAtNs } = noLongerCloned;
    const text = `UPDATE "Agent" SET "oustedInstanceId" = $1, "oustedReturns" = $2, "clonedAtNs" = $3, "leaseExpiresAtNs" = $4`;
    await this.#database.query(text, [oustedInstanceId, oustedReturns, clonedAtNs, String(leaseExpiresAtNs)]);
  }

  async sayHello(process: Process): Promise<string> {
    const { instanceId, knownLease: lease, formerInstanceIds } = process;
    const body = {
      ...helloBody({ instanceId, ...(lease !== undefined && { lease }) }),
      formerInstanceIds: [...formerInstanceIds],
    };
    return this.#try(process, async (beganAt) => {
      const welcome = await this.#cloud.withToken(this.#token).call(api.edge.hello, body);
      this.hellos.push({ instanceId, lease: welcome.lease, beganAt, endedAt: ++this.#order });
      process.lease = welcome.lease;
      process.knownLease = welcome.lease;
    });
  }

  call<O extends Operation>(process: Process, operation: O, input: CallInput<O>): Promise<string> {
    return this.#callUnderLease(process, async (client, options) => {
      await client.call(operation, input, options);
    });
  }

  askForWork(process: Process): Promise<string> {
    const input = { wait: 1, ...(process.etag !== undefined && { etag: process.etag }) };
    return this.#callUnderLease(process, async (client, options) => {
      const { etag } = await client.call(api.edge.work, input, options);
      process.etag = etag;
    });
  }

  async #callUnderLease(process: Process, call: LeasedCall): Promise<string> {
    const { instanceId, lease } = process;
    if (lease === undefined) return this.sayHello(process);
    return this.#try(process, async (beganAt) => {
      await call(this.#cloud.withToken(this.#token), { headers: { [LEASE_HEADER]: String(lease) } });
      this.served.push({ instanceId, lease, beganAt, endedAt: ++this.#order });
    });
  }

  async #try({ instanceId, lease }: Process, work: (beganAt: number) => Promise<void>): Promise<string> {
    try {
      await work(++this.#order);
      return "served";
    } catch (failure) {
      if (failure instanceof NetworkError) return "cut";
      if (!(failure instanceof ApiCallError) || !EXPECTED.has(failure.code ?? "")) throw failure;
      if (failure.code === "Cloned") this.clones += 1;
      if (failure.code === "LeaseLost") await this.#requireTaken(instanceId, lease!);
      return failure.code!;
    }
  }

  async #requireTaken(instanceId: string, lease: number): Promise<void> {
    const isTaken = (await this.#takings()).some((taken) => taken.lease > lease && taken.instanceId !== instanceId);
    assert.ok(isTaken, `lease ${lease} was lost, and nobody else got it`);
  }

  async #takings(): Promise<{ lease: number; instanceId: string }[]> {
    return (await this.#database.query('SELECT lease::int, "instanceId" FROM taking')).rows;
  }

  /** A process whose call succeeded held the lease at a moment of the call: no later lease had been answered before the call began. */
  async requireOneHolder(): Promise<void> {
    const holders = new Map<number, string>();
    for (const { lease, instanceId } of await this.#takings()) {
      assert.equal(holders.get(lease) ?? instanceId, instanceId, `lease ${lease} was given to two processes`);
      holders.set(lease, instanceId);
    }
    for (const { lease, instanceId } of [...this.hellos, ...this.served])
      assert.equal(instanceId, holders.get(lease), `who has not lease ${lease} was served under it`);
    for (const { lease, beganAt } of this.served)
      for (const later of this.hellos)
        assert.ok(later.lease <= lease || later.endedAt > beganAt, `lease ${lease} was served after ${later.lease}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ofCloud.disposeAsync();
    await this.#closing.disposeAsync();
  }
}

type Chance = (below: number) => number;

function chanceFrom(seed: number): Chance {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

function actOf(quarrel: Quarrel, process: Process, chance: Chance): () => Promise<string> {
  const acts = [
    () => quarrel.sayHello(process),
    () => {
      const sequence = ++process.sequence;
      return quarrel.call(process, api.edge.report, { sequence, upserts: [recordingItem()] });
    },
    () => quarrel.askForWork(process),
    () => quarrel.call(process, api.edge.status, { files: {}, problems: [] }),
  ];
  return acts[chance(acts.length)]!;
}

/** Does what a crash or an update does: none of its calls is running any more. */
function startOver(process: Process): void {
  const formerInstanceIds = [process.instanceId, ...process.formerInstanceIds].slice(0, edgeLimits.formerInstances);
  Object.assign(process, { ...newProcess(), knownLease: process.knownLease, formerInstanceIds });
}

/** Puts the state directory of one process in the place of the other's. */
function copyState(from: Process, to: Process): void {
  Object.assign(to, { ...newProcess(), knownLease: from.knownLease, formerInstanceIds: [from.instanceId] });
}

async function step(quarrel: Quarrel, processes: readonly Process[], chance: Chance): Promise<void> {
  const one = processes[chance(processes.length)]!;
  const event = chance(40);
  if (event === 0) return quarrel.restart();
  if (event === 1) return quarrel.passSeconds(61);
  if (event < 5) return startOver(one);
  if (event < 7 && processes.length > 1) return copyState(processes[0]!, processes[1]!);
  if (event < 16) quarrel.passSeconds(chance(20));
  const acts = Array.from({ length: 1 + chance(4) }, () =>
    actOf(quarrel, processes[chance(processes.length)]!, chance),
  );
  const cut = event < 20 ? [() => quarrel.cutDatabase()] : [];
  const { clones } = quarrel;
  await Promise.all([...acts, ...cut].map((act) => act()));
  if (quarrel.clones > clones && chance(3) === 0) await quarrel.release();
}

const inTime = { timeout: 240_000 };

for (const seed of [1, 2, 3])
  test(
    `of two processes with one token one holds the lease, and loses it only to the other one, whatever fails (seed ${seed})`,
    inTime,
    async () => {
      await using quarrel = await Quarrel.begin();
      const chance = chanceFrom(seed);
      const processes = [newProcess(), newProcess()];
      for (let number = 0; number < STEPS; number++) await step(quarrel, processes, chance);
      await quarrel.requireOneHolder();
      assert.ok(quarrel.served.length >= 10, `${quarrel.served.length} calls were served`);
      await requireCloneReported(quarrel, processes[0]!);
    },
  );

/** After all that, a process that comes back twice beside its copy is reported as a clone. */
async function requireCloneReported(quarrel: Quarrel, original: Process): Promise<void> {
  await quarrel.release();
  quarrel.passSeconds(61);
  assert.equal(await quarrel.sayHello(original), "served");
  const copy = newProcess();
  copyState(original, copy);
  assert.equal(await quarrel.sayHello(copy), "served");
  assert.equal(await quarrel.call(original, api.edge.status, { files: {}, problems: [] }), "LeaseLost");
  assert.deepEqual(
    [await quarrel.sayHello(original), await quarrel.sayHello(original)],
    ["LeaseHeldElsewhere", "Cloned"],
  );
  assert.equal(await quarrel.call(copy, api.edge.work, { wait: 0 }), "Cloned");
  await quarrel.requireOneHolder();
}

test(
  "a process that alone has its token is never taken for a clone, and is never without a lease for long",
  inTime,
  async () => {
    await using quarrel = await Quarrel.begin();
    const chance = chanceFrom(4);
    const alone = newProcess();
    for (let number = 0; number < STEPS; number++) await step(quarrel, [alone], chance);
    await quarrel.requireOneHolder();
    assert.equal(quarrel.clones, 0);
    assert.equal(await quarrel.sayHello(alone), "served");
  },
);
