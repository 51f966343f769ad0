import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { eventually } from "./processes/eventually.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PORT_OF_PAGE = "8080";

test("the README's way from nothing to an exported file works as it is written", async (t) => {
  const [start, addDevice, joined, exported] = commandsBelow("## From nothing to an exported file");
  const folder = await openCheckout(t);
  const recording = await makeMcap();
  await writeFile(join(folder, "recordings", "a.mcap"), recording);

  const served = begin(t, start![0]!, { cwd: folder, env: { DOWNLINK_PORT: "0" } });
  const [, port] = await served.printed(/Downlink serves at http:\/\/127\.0\.0\.1:(\d+)/);
  const [KEY] = await served.printed(/dl_sk_[\w-]+/);
  const here = (command: string) => command.replaceAll(PORT_OF_PAGE, port!);
  const run = (command: string, env = {}) => runInShell(here(command), { cwd: folder, env: { KEY: KEY!, ...env } });

  const made = await run(addDevice![0]!);
  const [line] = /^ *(echo \S+ \| npm run .*)$/m.exec(made)!.slice(1);
  await run(line!);

  const [runAgent, status, list] = joined as [string, string, string];
  begin(t, here(runAgent).replace(/ &$/, ""), { cwd: folder });
  const listed = () => run(list).then((text) => JSON.parse(text) as { id: string; path: string }[]);
  const [{ id: ID, path }] = (await eventually(listed, ({ length }) => length === 1)) as [{ id: string; path: string }];
  assert.equal(path, "a.mcap");
  assert.match(await run(status), /rover-1/);

  const [ask, get, fetchSlice] = exported as [string, string, string];
  await run(ask, { ID });
  const read = () => run(get, { ID }).then((text) => JSON.parse(text) as { importStatus: string });
  await eventually(read, ({ importStatus }) => importStatus === "complete");
  await run(fetchSlice, { ID });
  const slice = await readFile(join(folder, "slice.mcap"));
  assert.deepEqual(await messagesOf(slice), await messagesOf(recording));
});

/** Returns the commands of each block of the README's section, with continued lines joined. */
function commandsBelow(heading: string): string[][] {
  const [, section] = readFileSync(join(ROOT, "README.md"), "utf8").split(`${heading}\n`);
  const blocks = section!.split("\n## ")[0]!.matchAll(/```sh\n(.*?)```/gs);
  return Array.from(blocks, ([, text]) =>
    text!
      .replaceAll(/\\\n */g, "")
      .trim()
      .split("\n"),
  );
}

/** A checkout in which nothing was run yet, and that shares its packages with this one. */
async function openCheckout(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-first-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  for (const name of ["package.json", "scripts", "packages", "prisma", "node_modules"])
    symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, "recordings"));
  return folder;
}

function environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|DATABASE_URL|NODE_TEST)/.test(name));
  return { ...Object.fromEntries(inherited), ...more };
}

async function runInShell(command: string, { cwd, env = {} }: Place): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-c", command], { cwd, env: environment(env) });
  return stdout;
}

interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Begins what does not end by itself; it ends with the test, and is waited for then. */
function begin(t: TestContext, command: string, { cwd, env = {} }: Place) {
  const options = { cwd, env: environment(env), stdio: "pipe" } as const;
  const child: ChildProcess = spawn("bash", ["-c", `exec ${command}`], options);
  let output = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const exited = once(child, "exit");
  t.after(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const printed = (pattern: RegExp) =>
    eventually(
      async () => pattern.exec(output),
      (match) => match !== null,
    ) as Promise<RegExpExecArray>;
  return { printed };
}

async function messagesOf(bytes: Uint8Array) {
  const messages = await readIndexedMessages(bytes);
  return messages.map(({ topic, logTimeNs, data }) => ({ topic, logTimeNs, data }));
}
