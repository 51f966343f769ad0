import type { TableScan } from "./query-plans.ts";

interface ExpectedScan {
  readonly tables: readonly string[];
  /** How the filter or the order begins. */
  readonly asked: string;
  readonly because: string;
}

/** What may read a whole large table, and why. Anything else fails the benchmark. */
const expectedScans: readonly ExpectedScan[] = [
  {
    tables: ["Device"],
    asked: "properties.",
    because: "an order by any key of many has no index; all devices are read, and the first of them kept",
  },
  {
    tables: ["Episode", "Recording"],
    asked: "two letters",
    because: "a text of one or two letters has no trigram to look up",
  },
];

export function whyExpected({ table, call }: TableScan): string | undefined {
  const isAsked = (asked: string) => call.list.filter.startsWith(asked) || call.order.startsWith(asked);
  return expectedScans.find(({ tables, asked }) => tables.includes(table) && isAsked(asked))?.because;
}
