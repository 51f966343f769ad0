import type { Device } from "@downlink/protocol";

/** The kinds of trouble that Coverage counts, and that the list of devices shows by themselves. */
export const TROUBLES = ["silent", "cloned", "problems"] as const;
export type Trouble = (typeof TROUBLES)[number];

/** The words that stand behind a number of devices. */
export const TROUBLE_WORDS: Readonly<Record<Trouble, string>> = {
  silent: "silent",
  cloned: "with a cloned agent",
  problems: "with problems",
};

const tests: Readonly<Record<Trouble, (agent: NonNullable<Device["agent"]>) => boolean>> = {
  silent: ({ online }) => !online,
  cloned: ({ cloned }) => cloned === true,
  problems: ({ status }) => (status?.problems.length ?? 0) > 0,
};

/** Whether a device is in a kind of trouble. One without an agent is in none. */
export function isIn(trouble: Trouble, { agent }: Device): boolean {
  return agent !== undefined && tests[trouble](agent);
}
