const UNITS = { hours: 3600, days: 86_400 } as const;
export type RetentionUnit = keyof typeof UNITS;

/** Returns the seconds of a typed retention; undefined if it is no whole number. An empty text keeps recordings for ever, as 0 does. */
export function retentionSeconds(text: string, unit: RetentionUnit): number | undefined {
  if (text.trim() === "") return 0;
  if (!/^\d{1,6}$/.test(text.trim())) return undefined;
  return Number(text.trim()) * UNITS[unit];
}

/** Returns a retention for editing: in days where it is whole days. */
export function typedRetention(seconds = 0): { readonly text: string; readonly unit: RetentionUnit } {
  if (seconds === 0) return { text: "", unit: "days" };
  if (seconds % UNITS.days === 0) return { text: String(seconds / UNITS.days), unit: "days" };
  return { text: String(Math.ceil(seconds / UNITS.hours)), unit: "hours" };
}

interface Deleting {
  readonly retainSeconds: number;
  readonly deletesImported: boolean;
}

/** Says plainly what the device will delete. */
export function deletionText({ retainSeconds, deletesImported }: Deleting): string {
  const { text, unit } = typedRetention(retainSeconds);
  const age = `older than ${text} ${text === "1" ? unit.slice(0, -1) : unit}`;
  if (retainSeconds > 0 && deletesImported)
    return `The device deletes imported files, and all files ${age}, even those that were never imported and have no other copy.`;
  if (retainSeconds > 0)
    return `The device deletes all files ${age}, even those that were never imported and have no other copy.`;
  if (deletesImported)
    return "The device deletes its copy of an imported file after comparing the SHA-256 of both. The only copy is then here.";
  return "The device deletes nothing by itself.";
}
