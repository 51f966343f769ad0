import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { writeLargeFile } from "./processes/large-file.ts";
import { startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const CUTS = 6;
/** At a cut each of three parts may be on its way. */
const MOST_TWICE_BYTES = (CUTS + 1) * 3 * 5 * 1024 * 1024;

test("dl upload survives cuts and kill -9, sends no stored part again, and knows what is there already", async (t) => {
  const scenario = await startScenario(t);
  const original = await writeLargeFile(scenario);
  const { size } = statSync(original);
  const { proxy, cloud } = scenario;
  const home = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const start = () => startUpload(original, { home, url: proxy.url, key: cloud().adminKey });
  let running = start();
  for (let cut = 1; cut <= CUTS; cut++) {
    const sent = proxy.sentBytes();
    await eventually(
      async () => proxy.sentBytes() - sent > size / 8 || running.program.exitCode !== null,
      (isFar) => isFar,
    );
    proxy.cut();
    if (cut !== CUTS / 2) continue;
    running.program.kill("SIGKILL");
    await once(running.program, "exit");
    running = start();
  }
  const first = await running.ended;
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

interface Here {
  readonly home: string;
  readonly url: string;
  readonly key: string;
}

function startUpload(path: string, { home, url, key }: Here) {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
  const program = spawn(process.execPath, [PROGRAM, "upload", path, "--device", "rover"], {
    cwd: dirname(path),
    env: { ...env, DOWNLINK_API_URL: url, DOWNLINK_API_KEY: key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  program.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
  return { program, ended: once(program, "close").then(([code]) => ({ code: code as number, out })) };
}
