import type { ColumnPart } from "../../calls/search/list-by-column.ts";
import { Prisma } from "../../db/generated/client.ts";

const sortColumns = {
  createdAt: "createdAtNs",
  updatedAt: "updatedAtNs",
  requestId: "id",
  deviceId: "deviceId",
  "device.id": "deviceId",
  deviceName: "deviceName",
  "device.name": "deviceName",
  error: "errorText",
  importId: "importId",
} as const;

const covers = ["updatedAtNs", "quarantinedAtNs"];

type SortName = keyof typeof sortColumns;

/** Returns the parts of a list, one after another. Requests without a device, error or import come last, in either order, by id. */
export function orderRequests(sortBy: SortName = "createdAt", states: readonly string[]): ColumnPart[] {
  const column = sortColumns[sortBy];
  if (column === "id") return [{ column: undefined, where: [stateIn(states)], covers }];
  if (column === "createdAtNs" || column === "updatedAtNs") return [{ column, where: [stateIn(states)], covers }];
  if (column === "errorText") return orderByState(states, { column, where: [stateIn(["error"])], covers }, "error");
  const hasValue = Prisma.raw(`r."${column}" IS NOT NULL`);
  if (column === "importId")
    return orderByState(states, { column, where: [stateIn(["complete"]), hasValue], covers }, "complete");
  return [
    { column, where: [stateIn(states), hasValue], covers },
    { column: undefined, where: [stateIn(states), Prisma.raw(`r."${column}" IS NULL`)], covers: [] },
  ];
}

/** Requests in one state have a value, and the others have none. */
function orderByState(states: readonly string[], owned: ColumnPart, owner: string): ColumnPart[] {
  const others = states.filter((state) => state !== owner);
  return [
    ...(states.includes(owner) ? [owned] : []),
    ...(others.length > 0 ? [{ column: undefined, where: [stateIn(others)], covers }] : []),
  ];
}

/** The condition in the form of the partial indexes. */
function stateIn(states: readonly string[]): Prisma.Sql {
  const [first, ...others] = states;
  if (others.length === 0) return Prisma.raw(`r.state = '${first}'`);
  return Prisma.raw(`r.state IN (${states.map((state) => `'${state}'`).join(", ")})`);
}
