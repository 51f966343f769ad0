import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { runAgentCommand, startEdgeAgent } from "./processes/edge-agent.ts";
import { startScenario } from "./processes/scenario.ts";

interface StatusAnswer {
  readonly problems: readonly { code: string }[];
}

test("a second agent with the same token is refused with a plain message, and the first one continues", async (t) => {
  const scenario = await startScenario(t);
  await writeFile(join(scenario.storageRoot, "a.mcap"), await makeMcap());
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 1);
  const stateDir = `${scenario.agentOptions.stateDir}-2`;
  await using second = startEdgeAgent({ ...scenario.agentOptions, stateDir });
  await second.line(/another agent/i);
  const status = await runAgentCommand({ ...scenario.agentOptions, stateDir }, "status");
  assert.match(status.output, /another agent/i);
  await writeFile(join(scenario.storageRoot, "b.mcap"), await makeMcap({ durationSeconds: 1 }));
  await eventually(scenario.recordings, (all) => all.length === 2);
});

test("two daemons cannot share a state directory: the second one names the process that has it", async (t) => {
  const scenario = await startScenario(t);
  const first = scenario.startAgent();
  await eventually(
    () => runAgentCommand(scenario.agentOptions, "status", "--json"),
    ({ code }) => code !== 4,
  );
  await using second = startEdgeAgent(scenario.agentOptions);
  assert.notEqual(await second.ended, 0);
  assert.match(second.output(), new RegExp(`\\b${first.pid}\\b`));
});

test("if a card is removed, nothing is reported as gone without the root's marker: the agent reports the problem, and recovers when the card is back", async (t) => {
  const scenario = await startScenario(t);
  await writeFile(join(scenario.storageRoot, "a.mcap"), await makeMcap());
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 1);
  const away = `${scenario.storageRoot}-away`;
  await rename(scenario.storageRoot, away);
  const problems = async () => {
    const { output } = await runAgentCommand(scenario.agentOptions, "status", "--json");
    return (JSON.parse(output) as StatusAnswer).problems.map(({ code }) => code);
  };
  await eventually(problems, (codes) => codes.some((code) => /storage/i.test(code)));
  assert.equal((await scenario.recordings()).length, 1);
  await rename(away, scenario.storageRoot);
  await eventually(problems, (codes) => !codes.some((code) => /storage/i.test(code)));
  await rm(join(scenario.storageRoot, "a.mcap"));
  await eventually(scenario.recordings, (all) => all.length === 0);
});

test("status shows that the daemon is not running, with exit code 4", async (t) => {
  const scenario = await startScenario(t);
  const status = await runAgentCommand(scenario.agentOptions, "status");
  assert.equal(status.code, 4);
  assert.match(status.output, /not running/i);
});
