import { setTimeout as delay } from "node:timers/promises";
import { type Program, startProgram } from "../processes/program.ts";

/** One process of the control plane, which is started again whenever it was ended, as a service manager does. */
export interface Replica extends AsyncDisposable {
  readonly name: string;
  /** Returns the program that runs at this moment. */
  program(): Program;
  /** Ends it, starts it again, and resolves when it is ready. Fails if SIGTERM does not end it cleanly in time. */
  restart(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Suspends it for that time, as a suspended machine does. */
  freeze(ms: number): Promise<void>;
  /** Ends it cleanly, and starts the process of this checkout in its place. */
  upgrade(): Promise<void>;
}

interface Options {
  readonly name: string;
  readonly command: "serve" | "work";
  readonly env: Readonly<Record<string, string>>;
  /** The `packages/` of another checkout; undefined: of this one. */
  readonly packages?: URL | undefined;
  /** Called when it ends by itself, which it never should, with what it printed. */
  readonly onFall: (story: string) => void;
}

/** How long a stopping process still takes calls, until the load balancer has no idle connection to it. */
export const DRAIN_SECONDS = 5;
/** A process must end within ten seconds after it accepts no more calls. spec: reliability, fault 14 */
const LONGEST_STOP_MS = (DRAIN_SECONDS + 10) * 1000;

/** The process is ready when this resolves. */
export async function startReplica({ name, command, env, packages: first, onFall }: Options): Promise<Replica> {
  let packages = first;
  let isEnding = false;
  let program = start();
  const turns = createTurns();
  await isReady();
  return {
    name,
    program: () => program,
    restart: (signal) => turns(() => restart(signal)),
    freeze: (ms) => turns(() => freeze(program, ms)),
    upgrade: () =>
      turns(async () => {
        packages = undefined;
        await restart("SIGTERM");
      }),
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await program.end("SIGTERM");
    },
  };

  function start(): Program {
    const started = startProgram({ script: "cloud/src/main.ts", args: [command], env, packages });
    void started.ended.then((end) => {
      if (!isEnding) onFall(`${name} ended by itself with ${end}:\n${started.output()}`);
    });
    return started;
  }

  async function isReady(): Promise<void> {
    await program.line(/^Downlink (serves|works)/);
  }

  async function restart(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    isEnding = true;
    const late = delay(LONGEST_STOP_MS, "no end in time", { ref: false });
    const end = await Promise.race([program.end(signal), late]);
    if (end !== (signal === "SIGTERM" ? 0 : signal))
      throw new Error(`${signal} brought ${name} to ${end}:\n${program.output()}`);
    isEnding = false;
    program = start();
    await isReady();
  }
}

async function freeze({ pid }: Program, ms: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await delay(ms);
  process.kill(pid, "SIGCONT");
}

/** Runs one task after the other, in the order of the calls. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return (work: () => Promise<void>): Promise<void> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}
