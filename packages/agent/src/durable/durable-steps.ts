import { tracingChannel } from "node:diagnostics_channel";

/** What is made durable on the device. A file: written whole, moved or removed. */
export type DurableWrite =
  | { readonly what: "inventory"; readonly steps: readonly { readonly do: string }[] }
  | { readonly what: "fact"; readonly name: string }
  | { readonly what: "file"; readonly path: string };

/** What the cloud is told or given. */
export type CloudCall =
  | { readonly what: "call"; readonly operation: string }
  | { readonly what: "part"; readonly uploadId: string; readonly number: number }
  | { readonly what: "piece"; readonly uploadId: string; readonly number: number; readonly offset: number };

/**
 * Whatever a crash must not tear apart passes through one of these two. Nobody listens but the fault tests, which kill the
 * process before and after each of them: a new step is a new test by itself.
 */
export const durableWrites = tracingChannel<unknown, DurableWrite>("downlink.agent.durable-writes");
/** The content of a file is being looked at, which may end the process. */
export const examination = tracingChannel<unknown, { readonly path: string }>("downlink.agent.examination");
export const cloudCalls = tracingChannel<unknown, CloudCall>("downlink.agent.cloud-calls");
