import type { Finding } from "./sweep-objects.ts";

interface Table {
  readonly isDryRun: boolean;
  readonly write: (text: string) => void;
}

type Outcome = Finding["outcome"];

/** Prints a line for each finding as it is found, then the sums. Returns whether nothing is wrong. */
export async function printSweep(findings: AsyncIterable<Finding>, { isDryRun, write }: Table): Promise<boolean> {
  const totals = new Map<Outcome, { count: number; bytes: number }>();
  const labels: Record<Outcome, string> = {
    removed: isDryRun ? "would remove" : "removed",
    kept: "kept",
    failed: "FAILED",
    missing: "MISSING",
  };
  write(toLine(["", "bytes", "object", "reason"]));
  for await (const { outcome, sizeBytes, key, reason } of findings) {
    const { count, bytes } = totals.get(outcome) ?? { count: 0, bytes: 0 };
    totals.set(outcome, { count: count + 1, bytes: bytes + sizeBytes });
    write(toLine([labels[outcome], sizeBytes.toLocaleString("en-US"), key, reason]));
  }
  for (const outcome of Object.keys(labels) as Outcome[]) {
    const { count, bytes } = totals.get(outcome) ?? { count: 0, bytes: 0 };
    if (count > 0 || outcome === "removed")
      write(`${labels[outcome]}: ${count} (${bytes.toLocaleString("en-US")} bytes)\n`);
  }
  return !totals.has("failed") && !totals.has("missing");
}

function toLine([outcome, bytes, object, reason]: [string, string, string, string]): string {
  return `${outcome.padEnd(12)} ${bytes.padStart(18)}  ${object.padEnd(64)}  ${reason}\n`;
}
