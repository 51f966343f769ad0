import { ORDERED_CHARACTERS } from "@downlink/protocol";
import { Prisma } from "../../db/generated/client.ts";
import { avoidIndex } from "../../db/text-sql.ts";
import type { ListQuery } from "./recording-filters.ts";

type Sql = Prisma.Sql;
type SortName = "deviceName" | "createdAt" | "start" | "end" | "duration" | "path" | "importedAt";

/** A part of the recordings `r`, in the order of an index. */
export interface OrderedPart {
  readonly sortName: SortName;
  readonly from: Sql;
  /** The conditions of the part; none: all recordings. */
  readonly where: readonly Sql[];
  /** The table whose organization the index begins with. */
  readonly owner: "r" | "d";
  /** The column to sort by. */
  readonly value: Sql;
  readonly type: "bigint" | "text";
  /** It is the id, because the recordings of the part have no other value. */
  readonly isById: boolean;
  /** The keys of the index for a value, */
  readonly keysOf: (value: Sql) => readonly Sql[];
  /** and the same order by expressions that no index has. */
  readonly unindexedKeysOf: (value: Sql) => readonly Sql[];
  /** The index has the recordings' starts and ends behind its key. */
  readonly coversTime: boolean;
  /** The first of two parts has the order of both here. */
  readonly together?: Together;
}

export interface Together {
  readonly from: Sql;
  readonly value: Sql;
  readonly type: "bigint" | "text";
}

const keys = {
  createdAt: 'r."createdAtNs"',
  start: 'r."startNs"',
  end: 'r."endNs"',
  duration: 'r."durationNs"',
  importedAt: 'r."importedAtNs"',
} as const;

/** Returns the parts of a list, one after another. Recordings without a device or a time of import come last, in either order, by id. */
export function orderRecordings(
  { sortBy = "createdAt", importStatus, deviceId }: ListQuery,
  isOfDevice: boolean,
): OrderedPart[] {
  const sortName = sortBy === "device.name" ? "deviceName" : sortBy;
  if (sortName === "path") return [byPath];
  if (sortName === "importedAt") return orderByImport(importStatus);
  if (sortName !== "deviceName") return [orderByTime(sortName)];
  if (isOfDevice) return [orderById("deviceName", [])];
  const deviceless = orderById("deviceName", [Prisma.sql`r."deviceId" IS NULL`]);
  return deviceId === "" ? [deviceless] : [byDeviceName, deviceless];
}

const recordings = { from: Prisma.sql`"Recording" r`, owner: "r", where: [], isById: false } as const;

function orderByTime(sortName: keyof typeof keys): OrderedPart {
  return {
    ...recordings,
    sortName,
    value: Prisma.raw(keys[sortName]),
    type: "bigint",
    keysOf: (value) => [value],
    unindexedKeysOf: (value) => [avoidIndex(value, "number")],
    coversTime: sortName !== "duration", // it is hardly related to time, so matches come soon
  };
}

function orderById(sortName: SortName, where: readonly Sql[]): OrderedPart {
  return {
    ...recordings,
    sortName,
    where,
    value: Prisma.sql`r.id`,
    type: "text",
    isById: true,
    keysOf: () => [],
    unindexedKeysOf: (id) => [avoidIndex(id, "text")],
    coversTime: false,
  };
}

/** Only imported recordings have the time. */
function orderByImport(importStatus: ListQuery["importStatus"]): OrderedPart[] {
  const imported = { ...orderByTime("importedAt"), where: [Prisma.sql`r."importedAtNs" IS NOT NULL`] };
  const others = orderById("importedAt", [Prisma.sql`r."importedAtNs" IS NULL`]);
  if (importStatus?.every((status) => status !== "complete")) return [others];
  if (importStatus?.every((status) => status === "complete")) return [imported];
  return [
    { ...imported, together: { from: recordings.from, value: Prisma.sql`r."importedAtNs"`, type: "bigint" } },
    others,
  ];
}

/**
 * Paths are too long for an index, so it has their beginnings. They are compared byte by byte, so that the beginnings sort as the whole
 * paths do.
 */
const byPath: OrderedPart = {
  ...recordings,
  sortName: "path",
  value: Prisma.sql`r.path`,
  type: "text",
  keysOf: (path) => [Prisma.sql`left(${path}, 200) COLLATE "C"`, beginningOf(path)],
  unindexedKeysOf: (path) => [beginningOf(path)],
  coversTime: true,
};

function beginningOf(path: Sql): Sql {
  return Prisma.sql`left(${path}, ${Prisma.raw(String(ORDERED_CHARACTERS))}) COLLATE "C"`;
}

const byDeviceName: OrderedPart = {
  sortName: "deviceName",
  isById: false,
  from: Prisma.sql`"Device" d JOIN "Recording" r ON r."deviceId" = d.id`,
  where: [],
  owner: "d",
  value: Prisma.sql`d.name`,
  type: "text",
  keysOf: (name) => [name],
  unindexedKeysOf: (name) => [avoidIndex(name, "text")],
  coversTime: false,
  together: {
    from: Prisma.sql`"Recording" r LEFT JOIN "Device" d ON d.id = r."deviceId"`,
    value: Prisma.sql`d.name`,
    type: "text",
  },
};
