import type { TableScan } from "./query-plans.ts";

interface ExpectedScan {
  readonly tables: readonly string[];
  /** The beginning of the filter or the order. */
  readonly asked: string;
  readonly because: string;
}

/** The calls that may read a whole large table, and why. Any other one fails the benchmark. */
const expectedScans: readonly ExpectedScan[] = [
  {
    tables: ["Device"],
    asked: "properties.",
    because: "an order by any key of many has no index; all devices are read, and the first of them kept",
  },
  ...["name", "path"].map((what) => ({
    tables: ["Device", "Recording"],
    asked: `two letters of no ${what}`,
    because: "an index of pairs would add a half to the time that it takes to write a recording",
  })),
  ...["lastSeenAt", "problems", "freeBytes"].map((asked) => ({
    tables: ["Device", "Agent"],
    asked,
    because: "agents say it every half minute, and an index would be written as often",
  })),
  {
    tables: ["Session"],
    asked: "recorded",
    because: "of a long time, so many sessions have recordings that to read all takes less than to look each up",
  },
];

export function whyExpected({ table, call }: TableScan): string | undefined {
  const isAsked = (asked: string) => call.list.filter.startsWith(asked) || call.order.startsWith(asked);
  return expectedScans.find(({ tables, asked }) => tables.includes(table) && isAsked(asked))?.because;
}
