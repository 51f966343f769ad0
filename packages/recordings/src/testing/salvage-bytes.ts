import { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { type SalvageOptions, salvageRecording } from "../salvage/salvage-recording.ts";
import { bytesSource } from "../sources/source.ts";
import { collect } from "./collect.ts";

const describe: SalvageOptions["describe"] = ({ lostBytes }) => ({
  name: "downlink.salvage",
  metadata: { lostBytes: `${lostBytes}` },
});

/** The thread of all tests of a process that salvage many files: to start one takes longer than most salvages. */
export const salvagePool = new RewritePool({ threadCount: 1 });

/** The file that a salvage of these bytes writes. Without a pool it starts a thread of its own. */
export function salvage(bytes: Uint8Array, fileName = "run.mcap", pool?: RewritePool): Promise<Uint8Array> {
  return collect(salvageRecording(bytesSource(bytes), { fileName, describe, ...(pool && { pool }) }));
}
