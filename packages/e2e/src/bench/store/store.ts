// How fast uploads, imports and exports are with the objects in our bucket or a customer's, as ratios to the same client without us, in one run:
//
//   npm run bench:store [-- --scale 0.2] [--runs 3] [--only uploads|exports|customer] [--folder /dev/shm]
//
// The bucket is one of Ceph's, in memory, as `scripts/run-ceph.sh` starts it. The recording is the drive of `bench:export`: a scale of 1 is 1 GB
// of 60 s. Both sides take turns, and the first run of each is not counted. Latency is added between the control plane and the bucket to
// each request. Prints tables; never fails for a time.
import { stat } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { writeDrive } from "@downlink/recordings/testing";
import { makeFolderUntilExit } from "../../processes/folder-until-exit.ts";
import { say } from "../report.ts";
import { type Compared, reportCompared } from "./compared.ts";
import { measureExports } from "./measure-exports.ts";
import { measureUploads } from "./measure-uploads.ts";
import { storeInCustomersBucket, storeInOurBucket } from "./stored-drive.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "0.2" },
    runs: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    folder: { type: "string", default: "/dev/shm" },
  },
});
const why = whyNoCeph();
if (why !== undefined) throw new Error(why);

await using stack = new AsyncDisposableStack();
const folder = makeFolderUntilExit(values.folder, "downlink-bench-");
const ceph = stack.use(await runCeph());
const bucket = { ceph, bucket: await ceph.makeBucket(), folder };
const path = join(folder, "drive.mcap");
await writeDrive(path, { kind: "sensors", compression: "zstd", scale: Number(values.scale) });
say(`a drive of ${((await stat(path)).size / 1e6).toFixed(0)} MB, ${values.runs} runs each`);
const compared: Compared[] = [];
if ("uploads".includes(values.only)) compared.push(...(await measureUploads(bucket, path, Number(values.runs))));
for (const [only, place] of Object.entries({
  exports: { where: "our bucket", store: storeInOurBucket },
  customer: { where: "a customer's", store: storeInCustomersBucket },
}))
  if (only.includes(values.only))
    compared.push(...(await measureExports(bucket, path, { ...place, runs: Number(values.runs) })));
reportCompared(compared);
say(
  `on ${cpus().length} × ${cpus()[0]?.model}, ${loadavg()[0]!.toFixed(1)} programs running beside each other at the end`,
);
