// A process of its own with a part of the fleet. It is sent the agents that it has to be, and reports every second how they fare.
import { setTimeout as delay } from "node:timers/promises";
import { type FleetCounts, noCounts, SimulatedAgent } from "./simulated-agent.ts";

export interface Part {
  readonly port: number;
  readonly tokens: readonly string[];
  /** The number of its first agent in the whole fleet. */
  readonly firstNumber: number;
  /** All of its agents begin within this time. */
  readonly rampMs: number;
}

export interface PartFigures extends FleetCounts {
  readonly settled: number;
}

process.on("message", (part: Part) => void simulate(part));
process.on("disconnect", () => process.exit());

async function simulate({ port, tokens, firstNumber, rampMs }: Part): Promise<void> {
  const counts = noCounts();
  const settled = new Set<number>();
  setInterval(() => process.send!({ ...counts, settled: settled.size } satisfies PartFigures), 1000);
  for (const [at, token] of tokens.entries()) {
    const onSettled = (isSettled: boolean) => void (isSettled ? settled.add(at) : settled.delete(at));
    const localAddress = loopbackAddress(firstNumber + at);
    void new SimulatedAgent({ port, token, localAddress, counts, onSettled }).run();
    await delay(rampMs / tokens.length);
  }
}

function loopbackAddress(number: number): string {
  return `127.1.${number >> 8}.${number & 255 || 1}`;
}
