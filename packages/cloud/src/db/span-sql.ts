import { Prisma } from "./generated/client.ts";

interface Span {
  readonly start?: bigint | undefined;
  readonly end?: bigint | undefined;
}

/** The last time that a range can include. */
const LAST_NS = 2n ** 63n - 2n;

/**
 * The rows of the table with this alias whose time, from `startNs` to `endNs`, touches the span; all ends inclusive, an absent
 * one is open. The plain bounds decide; the range, which takes the last two nanoseconds of all time for one, is for the index
 * over `downlink_span`, and for the planner: it knows how many ranges overlap, and of two bounds it would suppose the product.
 */
export function touches(alias: string, { start, end }: Span): Prisma.Sql[] {
  if (start === undefined && end === undefined) return [];
  if (start !== undefined && end !== undefined && start > end) return [Prisma.sql`FALSE`];
  const [startNs, endNs] = [Prisma.raw(`${alias}."startNs"`), Prisma.raw(`${alias}."endNs"`)];
  const range = Prisma.sql`int8range(${within(start)}::bigint, ${within(end)}::bigint, '[]')`;
  return [
    ...(start === undefined ? [] : [Prisma.sql`${endNs} >= ${start}`]),
    ...(end === undefined ? [] : [Prisma.sql`${startNs} <= ${end}`]),
    Prisma.sql`downlink_span(${startNs}, ${endNs}) && ${range}`,
  ];
}

function within(timeNs: bigint | undefined): bigint | null {
  if (timeNs === undefined) return null;
  return timeNs > LAST_NS ? LAST_NS : timeNs;
}
