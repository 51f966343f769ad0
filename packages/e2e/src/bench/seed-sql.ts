export const START_NS = 1_767_225_600_000_000_000n; // 2026-01-01

export interface Table {
  readonly table: string;
  /** One `INSERT … SELECT` statement. */
  readonly sql: string;
}

export interface Counts {
  readonly devices: number;
  readonly intervals: number;
  readonly events: number;
  readonly sessions: number;
  /** The number of the first devices, which have all recordings and sessions. */
  readonly recordedDevices: number;
  readonly recordings: number;
  readonly imports: number;
  readonly episodes: number;
  readonly unusedProperties: number;
}

export interface Size extends Counts {
  readonly orgId: string;
  readonly projectId: string;
}

/** Returns as SQL text one value of `words`, by the number that the SQL expression gives. */
export function pick(words: readonly string[], by: string): string {
  return `(ARRAY[${words.map((word) => `'${word}'`).join(",")}])[1 + (${by}) % ${words.length}]`;
}

/** Returns as SQL text the id that {@link idOf} gives for the number that the SQL expression gives. */
export function id(prefix: string, number: string): string {
  return `'${prefix}_' || lpad((${number})::text, 26, '0')`;
}

export function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, "0")}`;
}

/** Returns as SQL text the first two columns of a row that belongs to a project. */
export function owner({ orgId, projectId }: Size): string {
  return `'${orgId}', '${projectId}'`;
}
