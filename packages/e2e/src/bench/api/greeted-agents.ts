import type { TestCloud } from "@downlink/cloud/testing";
import { formatTimestamp } from "@downlink/protocol";
import { sayFiles, startBenchAgent } from "../edge-agents.ts";
import { itemText } from "../edge-items.ts";

export interface GreetedAgent {
  readonly token: string;
  readonly lease: number;
  /** The body of its hello. */
  readonly hello: object;
  /** A file that it has reported, as JSON. */
  readonly item: string;
}

const FILES = 20;

/** Starts agents that have said hello and reported a few files. */
export async function greetAgents(
  cloud: TestCloud,
  { projectId, count }: { projectId: string; count: number },
): Promise<GreetedAgent[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => greetAgent(cloud, projectId, n)));
}

async function greetAgent(cloud: TestCloud, projectId: string, n: number): Promise<GreetedAgent> {
  const files = Array.from({ length: FILES }, (_, number) => ({
    number,
    versionId: `agent-${n}-${String(number).padStart(20, "0")}`,
    path: `card/run-${number}.mcap`,
  }));
  const agent = await startBenchAgent(cloud, `bench-${n}`, projectId);
  await sayFiles(cloud, agent, files);
  const hello = { ...agent.hello, clock: formatTimestamp(agent.hello.clock) };
  return { token: agent.token, lease: agent.lease, hello, item: itemText(files[0]!) };
}
