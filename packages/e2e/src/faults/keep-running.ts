import { type EdgeAgentOptions, startEdgeAgent } from "../processes/edge-agent.ts";
import type { Program } from "../processes/program.ts";

/** An agent that is started again whenever it was killed, as a service manager does. */
export interface KeptAgent extends AsyncDisposable {
  /** Rejects when the agent ends by itself, which it never should, with what it printed. */
  readonly fell: Promise<never>;
  kills(): number;
  /** Resolves with the first line that the present process prints and that matches. */
  line(pattern: RegExp): Promise<string>;
  /** Kills the process, which is then started again. Resolves when the old process has ended. */
  kill(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Ends it for good by SIGTERM; fails if that takes more than ten seconds or is no clean end. */
  stop(): Promise<void>;
}

/** spec: reliability, fault 14 */
const LONGEST_STOP_MS = 10_000;

/** `first` is for the first process only. */
export function keepRunning(options: EdgeAgentOptions, first: EdgeAgentOptions = options): KeptAgent {
  let kills = 0;
  let isOver = false;
  const fallen = Promise.withResolvers<never>();
  fallen.promise.catch(() => {});
  let agent = start(first);
  return {
    fell: fallen.promise,
    kills: () => kills,
    line: (pattern) => agent.line(pattern),
    async kill(signal) {
      const { ended } = agent;
      if (signal === "SIGTERM") await requireCleanEnd(agent);
      else await agent.end(signal);
      await ended;
    },
    async stop() {
      isOver = true;
      await requireCleanEnd(agent);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await agent.end("SIGKILL");
    },
  };

  function start(given: EdgeAgentOptions): Program {
    const program = startEdgeAgent(given);
    void program.ended.then((code) => {
      if (isOver) return;
      if (!isOurDoing(code)) {
        fallen.reject(new Error(`the agent ended with ${code}:\n${program.output()}`));
        return;
      }
      kills += 1;
      agent = start(options);
    });
    return program;
  }
}

async function requireCleanEnd(program: Program): Promise<void> {
  const late = AbortSignal.timeout(LONGEST_STOP_MS);
  const isLate = new Promise<"late">((resolve) => late.addEventListener("abort", () => resolve("late")));
  const end = await Promise.race([program.end("SIGTERM"), isLate]);
  if (!isOurDoing(end)) throw new Error(`SIGTERM ended the agent with ${end}:\n${program.output()}`);
}

/** The test caused this end: it is clean, or a kill, or a SIGTERM that came before the agent listened for it. */
function isOurDoing(end: number | string): boolean {
  return end === 0 || end === "SIGKILL" || end === "SIGTERM";
}
