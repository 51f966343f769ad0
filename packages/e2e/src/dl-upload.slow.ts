import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { writeLargeFile } from "./processes/large-file.ts";
import { type Scenario, startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const PART_BYTES = 5 * 1024 * 1024;
/** Three parts are on their way at each of the two breaks, and the rest is room for calls. */
const MOST_TWICE_BYTES = 2 * 3 * PART_BYTES + 2_000_000;

test("dl upload survives a cut and kill -9, sends no stored part again, and knows what is there already", async (t) => {
  const scenario = await startScenario(t);
  const original = await writeLargeFile(scenario);
  const { size } = statSync(original);
  const { proxy, cloud } = scenario;
  const home = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const start = () => startUpload(original, { home, url: proxy.url, key: cloud().adminKey });
  const cutRunning = start();
  await untilStored(scenario, home, 4);
  proxy.cut();
  await untilStored(scenario, home, 12); // a program that knew nothing of them would send 60 MB again
  cutRunning.program.kill("SIGKILL");
  await cutRunning.ended;
  const first = await start().ended;
  assert.equal(first.code, 0, first.out);
  const [recording] = await scenario.recordings();
  assert.match(
    first.out,
    new RegExp(`large\\.mcap  ${proxy.url}/p/${recording!.projectId}/recordings/${recording!.id}\n$`),
  );
  assert.ok(proxy.sentBytes() - size < MOST_TWICE_BYTES, `${proxy.sentBytes()} bytes for ${size}`);
  const { link } = await cloud().admin.call(api.recordingFiles.link, { keyOrId: recording!.id });
  assert.ok(readFileSync(original).equals(Buffer.from(await (await fetch(link)).arrayBuffer())));

  const before = proxy.sentBytes();
  const again = await start().ended;
  assert.match(again.out, /large\.mcap {2}was here before: http/);
  assert.ok(proxy.sentBytes() - before < 1_000_000);
  const rubbish = await startUpload(PROGRAM, { home, url: proxy.url, key: cloud().adminKey }).ended;
  assert.deepEqual([rubbish.code, /main\.ts {2}was not imported: /.test(rubbish.out)], [1, true], rubbish.out);
});

/** Waits until so many parts are stored. The program notes which upload it has begun. */
async function untilStored({ cloud }: Scenario, home: string, count: number): Promise<void> {
  const folder = join(home, "downlink", "uploads");
  await eventually(
    async () => {
      const [name] = existsSync(folder) ? readdirSync(folder).filter((one) => !one.includes(".")) : [];
      if (name === undefined) return 0;
      const requestId = readFileSync(join(folder, name), "utf8");
      return (await cloud().admin.call(api.partUploads.get, { requestId })).parts.length;
    },
    (stored) => stored >= count,
  );
}

test("dl upload --watch uploads what appears, and Ctrl-C ends it as such", async (t) => {
  const scenario = await startScenario(t);
  const { proxy, cloud, storageRoot } = scenario;
  const here = { home: mkdtempSync(join(tmpdir(), "downlink-dl-")), url: proxy.url, key: cloud().adminKey };
  const watching = startProgram(["--watch", storageRoot], here);
  writeFileSync(join(storageRoot, "a.mcap"), await makeMcap({ durationSeconds: 1 }));
  await eventually(
    async () => watching.printed(),
    (out) => /a\.mcap {2}http.*\n$/.test(out),
  );
  assert.equal((await scenario.recordings())[0]!.importStatus, "complete");
  watching.program.kill("SIGINT");
  assert.equal((await watching.ended).code, 130);
});

interface Here {
  readonly home: string;
  readonly url: string;
  readonly key: string;
}

const startUpload = (path: string, here: Here) => startProgram([path], here);

function startProgram(args: readonly string[], { home, url, key }: Here) {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
  const program = spawn(process.execPath, [PROGRAM, "upload", ...args, "--device", "rover"], {
    cwd: home,
    env: { ...env, DOWNLINK_API_URL: url, DOWNLINK_API_KEY: key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  program.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
  return {
    program,
    printed: () => out,
    ended: once(program, "close").then(([code]) => ({ code: code as number, out })),
  };
}
