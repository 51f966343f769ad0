import { tracingChannel } from "node:diagnostics_channel";

/** A change that is made durable on the device. A `file` is written as a whole, moved or removed. */
export type DurableWrite =
  | { readonly what: "inventory"; readonly steps: readonly { readonly do: string }[] }
  | { readonly what: "fact"; readonly name: string }
  | { readonly what: "file"; readonly path: string };

export type CloudCall =
  | { readonly what: "call"; readonly operation: string }
  | { readonly what: "part"; readonly uploadId: string; readonly number: number }
  | { readonly what: "piece"; readonly uploadId: string; readonly number: number; readonly offset: number };

/**
 * Whatever a crash must not tear apart passes through one of these channels. Only the fault tests listen: they kill the
 * process before and after each message, so that every new write or call is tested without a new test.
 */
export const durableWrites = tracingChannel<unknown, DurableWrite>("downlink.agent.durable-writes");
/** The content of a file is being looked at, which may end the process. */
export const examination = tracingChannel<unknown, { readonly path: string }>("downlink.agent.examination");
export const cloudCalls = tracingChannel<unknown, CloudCall>("downlink.agent.cloud-calls");
