import type { Device } from "@downlink/protocol";
import { newId } from "../db/ids.ts";
import type { TestCloud } from "./start-cloud.ts";
import { storeRecordings } from "./stored-recordings.ts";

/** The lists whose rows move while they are read. */
export type MovingList = "devices" | "events" | "recordings";
type Table = "Device" | "Event" | "Recording";

const tables = { devices: "Device", events: "Event", recordings: "Recording" } as const;

/** A change of the rows of a list between two of its pages. */
export interface Move {
  readonly kind: "insert" | "delete" | "change";
  /** Chooses the row, and the row whose values it takes over. */
  readonly choice: number;
}

/** The columns that one row takes over from another: all that lists sort and filter by. */
const movable = {
  Device: ["properties", "createdAtNs"],
  Event: ["deviceId", "startNs", "endNs", "createdAtNs", "updatedAtNs"],
  Recording: ["deviceId", "path", "startNs", "endNs", "durationNs", "createdAtNs", "importedAtNs", "importStatus"],
} as const;

/** Stores devices, events and recordings with many equal values and many without one, and answers how to change them. */
export async function storeMovingRows(cloud: TestCloud) {
  const { devices } = await storeRecordings(cloud);
  await storeDevices(cloud, devices[0]!);
  await storeEvents(cloud, devices);
  const kept = {
    devices: await idsOf(cloud, "Device"),
    events: await idsOf(cloud, "Event"),
    recordings: await idsOf(cloud, "Recording"),
  };
  const { pool } = cloud.deps.db;
  let inserted = 0;
  /** Such ids are anywhere among those of the rows with the same values. */
  const nextId = (table: Table, choice: number) =>
    `${prefixes[table]}_0${((choice * 2_654_435_761) >>> 0).toString(36)}${++inserted}`;
  return {
    kept,
    /** Changes only rows that an earlier move inserted. */
    move: async (list: MovingList, { kind, choice }: Move) => {
      const table = tables[list];
      const source = kept[list][choice % kept[list].length]!;
      if (kind === "insert") return insertCopy(cloud, table, { source, id: nextId(table, choice) });
      const others = (await idsOf(cloud, table)).filter((id) => !kept[list].includes(id));
      const id = others[(choice * 7) % Math.max(1, others.length)];
      if (id === undefined) return;
      if (kind === "delete") return void (await pool.query(`DELETE FROM "${table}" WHERE id = $1`, [id]));
      const columns = movable[table].map((name) => `"${name}"`).join(", ");
      await pool.query(
        `UPDATE "${table}" SET (${columns}) = (SELECT ${columns} FROM "${table}" WHERE id = $2) WHERE id = $1`,
        [id, source],
      );
      if (table === "Device")
        await pool.query(`UPDATE "Agent" SET "lastSeenAtNs" = $2 WHERE "deviceId" = $1`, [id, choice]);
    },
    /** Deletes all that was inserted. */
    reset: async (list: MovingList) => {
      await pool.query(`DELETE FROM "${tables[list]}" WHERE NOT id = ANY($1)`, [kept[list]]);
    },
  };
}

async function idsOf({ deps }: TestCloud, table: Table): Promise<string[]> {
  const { rows } = await deps.db.pool.query<{ id: string }>(`SELECT id FROM "${table}" ORDER BY id`);
  return rows.map(({ id }) => id);
}

const prefixes = { Device: "dev", Event: "evt", Recording: "rec" } as const;

interface Copy {
  /** The id of the row whose values the copy has. */
  readonly source: string;
  readonly id: string;
}

async function insertCopy({ deps }: TestCloud, table: Table, { source, id }: Copy): Promise<void> {
  const { pool } = deps.db;
  const unique = {
    Device: { id, name: id },
    Event: { id },
    Recording: { id, key: null, importId: null, edgeSiteId: null },
  } as const;
  await pool.query(`INSERT INTO "${table}" SELECT (jsonb_populate_record(t, $2)).* FROM "${table}" t WHERE id = $1`, [
    source,
    unique[table],
  ]);
  if (table === "Device")
    await pool.query(
      `INSERT INTO "Agent" SELECT (jsonb_populate_record(a, $2)).* FROM "Agent" a WHERE a."deviceId" = $1`,
      [source, { id: `agt_${id}`, deviceId: id }],
    );
}

/** Values of all types, some of which differ only behind the characters that count for the order. */
const zones = [
  "b",
  "a",
  "Ä",
  3,
  20,
  -1.5,
  true,
  ["x"],
  ["x", "y"],
  [],
  "\u0001".repeat(600),
  "z".repeat(500),
  `${"z".repeat(500)}1`,
];
const statuses = [
  null,
  [1],
  {},
  { problems: [], disk: { freeBytes: 900 } },
  { problems: [1], disk: { freeBytes: 90 } },
  { problems: [1], disk: { freeBytes: "odd" } },
];

/** Half of the devices are in another project, where devices have the same names. */
async function storeDevices({ deps }: TestCloud, { orgId, projectId }: Device): Promise<void> {
  const { prisma } = deps.db;
  const other = await prisma.project.create({
    data: { id: newId("prj"), orgId, name: "other", createdAtNs: 0n },
  });
  for (let i = 0; i < 40; i += 1) {
    const own = { id: newId("dev"), orgId, projectId: i % 2 === 0 ? projectId : other.id };
    const times = { createdAtNs: BigInt((i * 13) % 7), updatedAtNs: 0n };
    const properties = i % 3 === 0 ? {} : { zone: zones[i % zones.length]! };
    await prisma.device.create({ data: { ...own, ...times, name: `robot ${i >> 1}`, properties } });
    if (i % 4 === 3) continue;
    const lease = { leaseNumber: 1n, leaseInstanceId: "i", leaseExpiresAtNs: 0n, machineId: "m", agentVersion: "1" };
    const reported = { facts: {}, status: statuses[i % statuses.length] ?? undefined, lastSeenAtNs: BigInt(i % 5) };
    await prisma.agent.create({ data: { ...lease, ...reported, id: newId("agt"), orgId, deviceId: own.id } });
  }
}

async function storeEvents({ deps }: TestCloud, devices: readonly Device[]): Promise<void> {
  const data = Array.from({ length: 60 }, (_, i) => {
    const { id: deviceId, orgId, projectId } = devices[i % devices.length]!;
    const startNs = BigInt((i * 37) % 10);
    const times = { startNs, endNs: startNs + BigInt(i % 3), createdAtNs: BigInt(i % 7), updatedAtNs: BigInt(i % 6) };
    return { id: newId("evt"), orgId, projectId, deviceId, ...times, metadata: { text: i % 2 === 0 ? "even" : "odd" } };
  });
  await deps.db.prisma.event.createMany({ data });
}
