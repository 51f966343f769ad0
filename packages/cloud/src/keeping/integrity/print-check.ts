import type { Finding } from "./finding.ts";

interface Paper {
  /** Prints one JSON object in each line instead of words. */
  readonly isJson: boolean;
  readonly write: (text: string) => void;
  /** Counts the recordings whose data is in customers' buckets, at which the check does not look. */
  readonly countElsewhere: () => Promise<number>;
}

/** The exit codes of `downlink admin check`. */
export const checkExits = { whole: 0, findings: 1, couldNotLook: 2 } as const;

/** Prints a line for each finding as it is found, then their number. Returns the exit code. */
export async function printCheck(
  findings: AsyncIterable<Finding>,
  { isJson, write, countElsewhere }: Paper,
): Promise<number> {
  let count = 0;
  let repaired = 0;
  try {
    for await (const finding of findings) {
      count += 1;
      if (finding.isRepaired) repaired += 1;
      write(`${isJson ? JSON.stringify(finding) : toLine(finding)}\n`);
    }
  } catch (error) {
    const { message } = error as Error;
    write(`${isJson ? JSON.stringify({ error: message }) : `could not look: ${message}`}\n`);
    return checkExits.couldNotLook;
  }
  if (!isJson) write(summarize(count, repaired) + describeElsewhere(await countElsewhere()));
  return count === 0 ? checkExits.whole : checkExits.findings;
}

function toLine({ kind, subject, text, isRepaired }: Finding): string {
  return `${kind.padEnd(18)}  ${subject}  ${text}${isRepaired ? " (repaired)" : ""}`;
}

function summarize(count: number, repaired: number): string {
  if (count === 0) return "the database and the object store agree\n";
  return `${count} ${count === 1 ? "finding" : "findings"}, ${repaired} repaired\n`;
}

function describeElsewhere(count: number): string {
  if (count === 0) return "";
  const recordings = count === 1 ? "1 recording lies" : `${count} recordings lie`;
  return `${recordings} in customers' buckets, at which this does not look: downlink admin site scan does\n`;
}
