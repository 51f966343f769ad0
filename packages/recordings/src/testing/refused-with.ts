import { ExportError } from "../export/plan/export-options.ts";
import { RecordingError } from "../faults/reasons.ts";

/** Matches an export that is refused, or a file that is, with this code. */
export function refusedWith(code: string): (error: unknown) => boolean {
  return (error) =>
    (error instanceof ExportError && error.code === code) ||
    (error instanceof RecordingError && error.reason.code === code);
}
