import { endsWith, type RandomAccessSource } from "../sources/source.ts";
import { magic } from "./opcodes.ts";

/** Whether a file begins as an MCAP file does whose line ends were changed. */
export function hasChangedMcapEnds(head: Buffer): boolean {
  return changedStarts.some((start) => head.subarray(0, start.byteLength).equals(start));
}

const changedStarts = ["\n", "\r\r\n", "\r\u0001"].map((end) =>
  Buffer.concat([magic.subarray(0, 6), Buffer.from(end)]),
);

/** Answers what is wrong with a file of another version. A version that the end of the file does not confirm is more likely a flipped bit. */
export async function explainMcapVersion(head: Buffer, source: RandomAccessSource): Promise<string | undefined> {
  const start = head.subarray(0, magic.byteLength);
  const isMcap = start.subarray(0, 5).equals(magic.subarray(0, 5)) && start.subarray(6).equals(magic.subarray(6));
  if (!isMcap || !(await endsWith(source, start))) return undefined;
  const version = JSON.stringify(start.subarray(5, 6).toString("latin1"));
  return `the file is an MCAP file of version ${version}, and only version "0" is read; write it as one`;
}
