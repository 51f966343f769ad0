import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { answerJson, serve } from "@downlink/client/testing";
import { Command, Option } from "commander";
import type { Service } from "../login/open-service.ts";
import { complete } from "./complete.ts";
import { scripts } from "./scripts.ts";

function newProgram(): Command {
  const program = new Command("dl").option("--url <url>", "the control plane");
  program
    .command("ls")
    .description("List recordings")
    .option("--device <name>", "of a device")
    .option("--force", "at once")
    .addOption(new Option("--format <format>").choices(["mcap", "bag1"]));
  program.command("export").option("-o, --output <file>", "the file");
  program.command("datasets").option("--limit <count>").command("versions").description("Their versions");
  program.command("complete", { hidden: true });
  return program;
}

const offline = async (): Promise<Service> => assert.fail("the service is not needed");
const valuesFor = async (words: readonly string[], open = offline) =>
  (await complete(newProgram(), words, open)).split("\n").flatMap((line) => (line ? [line.split("\t")[0]] : []));

test("commands, flags and choices come from the table of commands, as far as they are typed", async () => {
  for (const [line, values] of [
    ["", ["ls", "export", "datasets", "help"]],
    ["--url here l", ["ls"]],
    ["comp", []],
    ["ls --fo", ["--force", "--format"]],
    ["ls --u", ["--url"]],
    ["ls --format ", ["mcap", "bag1"]],
    ["ls --format=m", ["--format=mcap"]],
    ["ls --format = m", ["mcap"]],
    ["ls --format mcap --dev", ["--device"]],
    ["ls --force --url ls", []],
    ["ls -- --f", []],
    ["export -o ", [":files"]],
    ["datasets ", ["versions", "help"]],
    ["datasets versions --l", ["--limit"]],
  ] as const)
    assert.deepEqual(await valuesFor(line.split(" ")), values, line);
});

test("names of devices are asked from the service, and there are none where it is silent or refuses", async () => {
  let answer: "names" | "refusal" | "silence" = "names";
  await using server = await serve((request, response) => {
    if (answer === "refusal") answerJson(response, 403, { error: "no", code: "MissingCapability" });
    if (answer !== "names") return;
    assert.match(request.url!, /nameMatches=rov/);
    const times = { createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z" };
    const flags = { enabled: true, remoteAccessEnabled: true, autoDeleteAfterImport: false };
    const device = { id: "dev_1", projectId: "prj_1", orgId: "org_1", ...flags, ...times };
    answerJson(response, 200, [
      { ...device, name: "rover-1" },
      { ...device, name: "a-rover" },
    ]);
  });
  const open = async () => {
    const transport = undiciTransport();
    const client = createClient({ baseUrl: server.url, transport });
    const dispose = () => transport[Symbol.asyncDispose]();
    return { client, [Symbol.asyncDispose]: dispose } as unknown as Service;
  };
  assert.deepEqual(await valuesFor(["ls", "--device", "rov"], open), ["rover-1"]);
  assert.deepEqual(await valuesFor(["ls", "--device=rov"], open), ["--device=rover-1"]);
  for (answer of ["refusal", "silence"] as const)
    assert.deepEqual(await valuesFor(["ls", "--device", "rov"], open), [], answer);
  const failing = async () => Promise.reject(new Error("no login"));
  assert.deepEqual(await valuesFor(["ls", "--device", "rov"], failing), []);
});

test("bash offers the candidates as whole words", () => {
  const dl = `dl() { printf '%s\\t%s\\n' 'rover *' "first" "$3" "and $#"; }`;
  const ask = `COMP_WORDS=(dl ls ro more); COMP_CWORD=2; _dl; printf '<%s>' "\${COMPREPLY[@]}"`;
  const printed = execFileSync("bash", ["-c", `${dl}\n${scripts.bash}\n${ask}`], { encoding: "utf8" });
  assert.equal(printed, "<rover *><ls>");
});
