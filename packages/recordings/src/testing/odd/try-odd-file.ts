import { holdOddFile } from "../hold-odd-file.ts";
import type { OddMcap } from "../odd-mcap.ts";
import { OddFileError } from "./odd-file-error.ts";

/** Says in one word or two how a file was handled; a failure with its whole text. */
export async function tryOddFile(odd: OddMcap): Promise<{ outcome: string; failure?: string }> {
  try {
    const { outcome, code } = await holdOddFile(odd);
    return { outcome: code === undefined ? outcome : `${outcome} ${code}` };
  } catch (error) {
    if (error instanceof OddFileError) return { outcome: `FAILED ${error.check}`, failure: error.message };
    return { outcome: "FAILED unexpectedly", failure: error instanceof Error ? `${error.stack}` : String(error) };
  }
}
