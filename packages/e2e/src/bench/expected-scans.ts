import type { TableScan } from "./query-plans.ts";

interface ExpectedScan {
  readonly table: string;
  /** Of filters or orders of the list, whole. */
  readonly asked: RegExp;
  readonly because: string;
}

/** What may read a whole large table, and why. Anything else fails the benchmark. */
export const expectedScans: readonly ExpectedScan[] = [
  {
    table: "Device",
    asked: /^properties\./,
    because: "an order by any key of many cannot have an index; 100,000 devices are read and sorted",
  },
];

export function whyExpected({ table, call }: TableScan): string | undefined {
  const isAsked = ({ asked }: ExpectedScan) => asked.test(call.list.filter) || asked.test(call.order);
  return expectedScans.find((expected) => expected.table === table && isAsked(expected))?.because;
}
