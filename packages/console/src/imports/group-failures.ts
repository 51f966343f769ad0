import { type FailedImport, isUpload } from "./failed-import.ts";
import { type Advice, adviceOn } from "./failure-advice.ts";

export interface FailureGroup {
  readonly code: string;
  readonly advice: Advice;
  readonly imports: readonly FailedImport[];
  readonly deviceNames: readonly string[];
  /** The uploads whose readable part can become a recording here. */
  readonly salvageable: readonly FailedImport[];
}

/** Groups failed imports by their code, the most frequent first. */
export function groupFailures(imports: readonly FailedImport[], onlyCode = ""): FailureGroup[] {
  const groups = Map.groupBy(imports, ({ code }) => code);
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
