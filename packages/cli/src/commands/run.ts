import type { Command } from "commander";
import { InterruptedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Does the work of a command with the service that its flags name. A signal ends what is under way, so that it can put away what it began. The
 * same signal again ends the program at once.
 */
export async function withService(command: Command, work: (service: Service) => Promise<void>): Promise<void> {
  const { openService } = await import("../login/open-service.ts");
  const interrupting = new AbortController();
  for (const signal of SIGNALS) process.once(signal, () => interrupting.abort(new InterruptedError(signal)));
  await using service = openService({ url: urlOf(command), environment: process.env, signal: interrupting.signal });
  await work(service);
}

/** Returns the `--url` of the command line. */
export function urlOf(command: Command): string | undefined {
  return command.optsWithGlobals<{ url?: string }>().url;
}

/** Gathers the values of a flag that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
