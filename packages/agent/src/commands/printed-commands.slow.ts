import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { problemTexts } from "../diagnostics/problems.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { runAgent, startAgent } from "../testing/start-agent.ts";

const source = fileURLToPath(new URL("..", import.meta.url));
const page = join(source, "../../../docs/reference/agent-commands.md");

/** Collects the commands between backquotes in the program's text; within template literals these are escaped. */
function collectCommands(): string[] {
  const files = globSync("**/*.ts", { cwd: source }).filter((path) => !/testing|\.(test|slow)\./.test(path));
  const texts = files.map((path) => readFileSync(join(source, path), "utf8"));
  const fixes = Object.values(problemTexts).map(({ cause, fix }) => `${cause} ${fix}`);
  const quoted = [...texts, ...fixes].flatMap((text) =>
    [...text.matchAll(/\\?`((?:agent|systemctl|sudo|usermod|groupadd|timedatectl|setfacl) [^`\\]+)\\?`/g)].map(
      ([, command]) => command!,
    ),
  );
  const listed = readFileSync(page, "utf8")
    .split("```")[1]!
    .split("\n")
    .flatMap((line) =>
      line.startsWith("agent ")
        ? [
            line
              .split(" #")[0]!
              .trim()
              .replace(/ \[.*\]/g, ""),
          ]
        : [],
    );
  return [...new Set([...quoted, ...listed])].filter((command) => !command.includes("…")).sort();
}

test("every command that a message or the page names is one of this program, which takes it, or one that systems have", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.leaseMs = 0;
  const tokenFile = join(dirname(device.root), "token");
  writeFileSync(tokenFile, cloud.token);
  const bundle = join(dirname(device.root), "bundle.tar.gz");
  const config = ["--config", join(dirname(device.root), "agent.env")];
  const named: Record<string, string> = {
    ...{ URL: cloud.url, "https://…": cloud.url, DIR: device.root, "/data": device.root },
    ...{
      FILE: tokenFile,
      "<file>": "a.mcap",
      "support-bundle": `support-bundle --out ${bundle}`,
      "install-service": "install-service --print",
    },
  };
  const places = ["--storage-root", device.root, "--state-dir", device.stateDir];
  const enrolled = await runAgent(...config, "enroll", ...places, "--url", cloud.url, "--token", cloud.token);
  assert.equal(enrolled.code, 0, enrolled.stderr);

  const commands = collectCommands();
  const own = commands.filter((command) => command.startsWith("agent "));
  assert.ok(own.length >= 10, own.join("\n"));
  for (const command of own) {
    const words = command
      .split(" ")
      .slice(1)
      .flatMap((word) => (named[word] ?? word).split(" "));
    await using agent = startAgent([...config, ...words]);
    const isLasting = words.includes("run") || words.includes("--watch");
    if (words.includes("run")) await agent.started;
    if (isLasting) agent.kill("SIGTERM");
    const { code, stderr } = await agent.exited;
    assert.ok(code !== 2 && !/unknown|too many/.test(stderr), `${command}: ${stderr}`);
  }
  for (const command of commands.filter((other) => !own.includes(other))) {
    const isKnown =
      /^(systemctl (start|stop|restart|status) downlink-agent|systemctl status|timedatectl set-ntp true|usermod -aG .*|groupadd --system --force .*|sudo -u '#.*' agent doctor)$/;
    assert.match(command, isKnown);
  }
});
