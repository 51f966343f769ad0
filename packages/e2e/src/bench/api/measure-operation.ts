import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Load, Order } from "./load.ts";
import type { MeasuredServer } from "./servers.ts";

export interface Sides {
  readonly load: ChildProcess;
  readonly cloud: MeasuredServer;
  readonly reference: MeasuredServer;
}

/** The figures of a median round. */
interface MeasuredSide extends Load {
  /** Statements and microseconds of the processor for each request. */
  readonly statements: number;
  readonly us: number;
}

export interface MeasuredTurns {
  /** The ratio of the control plane's requests a second to the reference's. */
  readonly ratio: number;
  readonly cloud: MeasuredSide;
  readonly reference: MeasuredSide;
}

interface Measurement {
  readonly requests: readonly string[];
  readonly rounds: number;
  readonly durationMs: number;
}

const WARM_UP_MS = 1000;

/** Both run by turns, so that other load of the machine affects both. */
export async function measureOperation(sides: Sides, measurement: Measurement): Promise<MeasuredTurns> {
  const { requests, rounds } = measurement;
  for (const { port } of [sides.reference, sides.cloud])
    await order(sides.load, { port, requests, durationMs: WARM_UP_MS });
  const turns: { cloud: MeasuredSide; reference: MeasuredSide }[] = [];
  while (turns.length < rounds) {
    const reference = await measureSide(sides.load, sides.reference, measurement);
    turns.push({ reference, cloud: await measureSide(sides.load, sides.cloud, measurement) });
  }
  const ratioOf = (turn: (typeof turns)[number]) => turn.cloud.perSecond / turn.reference.perSecond;
  const median = turns.toSorted((one, other) => ratioOf(one) - ratioOf(other))[turns.length >> 1]!;
  return { ...median, ratio: ratioOf(median) };
}

async function measureSide(
  load: ChildProcess,
  server: MeasuredServer,
  { requests, durationMs }: Measurement,
): Promise<MeasuredSide> {
  const before = await server.usage();
  const answered = await order(load, { port: server.port, requests, durationMs });
  const after = await server.usage();
  const statements = (after.statements - before.statements) / answered.count;
  return { ...answered, statements, us: (after.us - before.us) / answered.count };
}

/** Sends an order to the process of `load.ts`. */
export async function order(load: ChildProcess, given: Order): Promise<Load> {
  load.send(given);
  const [answer] = (await once(load, "message")) as [{ load?: Load; failure?: string }];
  if (!answer.load) throw new Error(answer.failure);
  return answer.load;
}
