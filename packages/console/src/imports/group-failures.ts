import type { PendingImport } from "@downlink/protocol";
import { type Advice, adviceOn } from "./failure-advice.ts";

export interface FailureGroup {
  readonly code: string;
  readonly advice: Advice;
  readonly imports: readonly PendingImport[];
  readonly deviceNames: readonly string[];
  /** The uploads whose readable part can become a recording here. A file of a device is salvaged on the device. */
  readonly salvageable: readonly PendingImport[];
}

/** Groups failed imports by their code, the most frequent first. */
export function groupFailures(imports: readonly PendingImport[], onlyCode = ""): FailureGroup[] {
  const groups = Map.groupBy(imports, ({ errorCode = "" }) => errorCode);
  return [...groups]
    .filter(([code]) => onlyCode === "" || code === onlyCode)
    .map(([code, members]) => {
      const advice = adviceOn(code);
      const names = members.flatMap(({ deviceName }) => deviceName ?? []);
      return {
        code,
        advice,
        imports: members,
        deviceNames: [...new Set(names)].sort(),
        salvageable: advice.isSalvageable ? members.filter(isUpload) : [],
      };
    })
    .sort((a, b) => b.imports.length - a.imports.length || a.code.localeCompare(b.code));
}

/**
 * Returns whether an import is an upload: its recording is known only once it is imported, that of a device's file from the start. A
 * salvage is none.
 */
export function isUpload({ recordingId, salvageOf }: Pick<PendingImport, "recordingId" | "salvageOf">): boolean {
  return recordingId === undefined && salvageOf === undefined;
}
