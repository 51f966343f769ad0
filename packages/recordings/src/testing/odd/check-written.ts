import { inspectRecording } from "../../inspect/inspect.ts";
import { bytesSource } from "../../sources/source.ts";
import { type Content, keyOf, without } from "./content-key.ts";
import { OddFileError } from "./odd-file-error.ts";
import { readByIndex, readForward, type Written } from "./read-written.ts";

/** The written file is valid for everyone: read forward, by its indexes, and verified. Answers what stands in it. */
export async function checkValid(bytes: Uint8Array, doing: string): Promise<Written> {
  const written = await tryReading(`${doing}: the written file cannot be read forward`, async () => readForward(bytes));
  const indexed = await tryReading(`${doing}: the written file cannot be read by its indexes`, () =>
    readByIndex(bytes),
  );
  requireOrder(written.messages, `${doing}: the written file is not in order`);
  requireOrder(indexed, `${doing}: the written file's indexes are not in order`);
  requireSame(indexed, written.messages, `${doing}: the written file's indexes`);
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "written.mcap", verifyChunks: true });
  if ("reason" in inspection) throw new OddFileError(`${doing}: the written file is refused`, inspection.reason.text);
  const { messageCount } = inspection.summary;
  if (messageCount !== written.messages.length)
    throw new OddFileError(
      `${doing}: the written file counts wrong`,
      `${messageCount} and not ${written.messages.length}`,
    );
  return written;
}

export function requireSame(found: readonly Content[], expected: readonly Content[], check: string): void {
  const [foundKeys, expectedKeys] = [found.map(keyOf), expected.map(keyOf)];
  const missing = without(expectedKeys, foundKeys);
  const extra = without(foundKeys, expectedKeys);
  if (missing.length === 0 && extra.length === 0) return;
  const counts = `${missing.length} of ${expected.length} messages missing, ${extra.length} that should not be there`;
  throw new OddFileError(`${check}: ${nameDifference(missing, extra)}`, `${counts}, e.g. ${missing[0] ?? extra[0]}`);
}

function nameDifference(missing: readonly string[], extra: readonly string[]): string {
  if (extra.length === 0) return "messages are missing";
  return missing.length === 0 ? "messages are too many" : "messages differ";
}

function requireOrder(messages: readonly Content[], check: string): void {
  const at = messages.findIndex(({ logTimeNs }, index) => index > 0 && logTimeNs < messages[index - 1]!.logTimeNs);
  if (at > 0) throw new OddFileError(check, `${messages[at]!.logTimeNs} stands behind ${messages[at - 1]!.logTimeNs}`);
}

async function tryReading<T>(check: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new OddFileError(check, String(error));
  }
}
