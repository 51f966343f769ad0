import { FileSource } from "./file-source.ts";
import { inspectRecording } from "./inspect.ts";
for (const path of process.argv.slice(2)) {
  await using s = await FileSource.open(path);
  const r = await inspectRecording(s, { fileName: path, salvage: true, verifyChunks: !!process.env.V });
  console.log(path.split("/").at(-1), r.state, "summary" in r ? [r.summary.method, r.summary.messageCount, r.summary.startNs, r.summary.endNs, r.summary.topics.length, r.summary.attachments.length, r.summary.metadata.length, r.summary.library].join(" ") : JSON.stringify(r.reason));
}
