import type { AgentSettings } from "@downlink/protocol";
import { checkGlob, checkGlobs } from "@downlink/protocol/globs";
import { splitTrimmed } from "../parts/split-trimmed.ts";

/** The settings of an agent as a user types them. */
export interface TypedSettings {
  readonly globs: string;
  readonly uploadRate: string;
  readonly concurrency: string;
}

export function toTyped({ autoImport = [], uploadRate = "", uploadConcurrency }: AgentSettings): TypedSettings {
  const concurrency = uploadConcurrency === undefined ? "" : String(uploadConcurrency);
  return { globs: autoImport.join("\n"), uploadRate, concurrency };
}

/** Empty fields are not set. */
export function toAgentSettings({ globs, uploadRate, concurrency }: TypedSettings): AgentSettings {
  const autoImport = splitTrimmed(globs, "\n");
  return {
    ...(autoImport.length > 0 && { autoImport }),
    ...(uploadRate.trim() !== "" && { uploadRate: uploadRate.trim() }),
    ...(concurrency.trim() !== "" && { uploadConcurrency: Number(concurrency) }),
  };
}

/** Says what is wrong with the first pattern that cannot be used. */
export function globProblem(text: string): string | undefined {
  const globs = splitTrimmed(text, "\n");
  for (const glob of globs) {
    const problem = problemOf(() => checkGlob(glob));
    if (problem) return `“${glob}” cannot be used: ${problem}.`;
  }
  const problem = problemOf(() => checkGlobs(globs));
  return problem && `They cannot be used together: ${problem}.`;
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
