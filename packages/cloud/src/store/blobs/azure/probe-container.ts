import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { findFaults, WrongCredentialsError } from "../buckets/bucket-unavailable.ts";
import { azureObjects, isTaken, sendBlob } from "./azure-objects.ts";
import { azureParts } from "./azure-parts.ts";
import { type Container, type ContainerOptions, connectContainer } from "./container.ts";

const BYTES = Buffer.from("Downlink looks whether it may use this container.");

interface Probe {
  readonly container: Container;
  readonly key: string;
}

/** The operations that the store needs of a container, each with blobs of its own that are removed afterwards. */
const steps: Readonly<Record<string, (probe: Probe) => Promise<void>>> = {
  write: ({ container, key }) => sendBlob(container, { name: key, bytes: BYTES, isOnce: true }),
  "write once": async ({ container, key }) => {
    const isRefused = await sendBlob(container, { name: key, bytes: BYTES, isOnce: true }).then(
      () => false,
      (error) => isTaken(error) || Promise.reject(error),
    );
    if (!isRefused) throw new Error("it replaces a blob in spite of If-None-Match, and so may lose one");
  },
  read: async ({ container, key }) => {
    if ((await azureObjects(container).find(key))?.sizeBytes !== BYTES.byteLength)
      throw new Error("it does not have what was just written");
  },
  "read a range": async ({ container, key }) => {
    const { readableStreamBody } = await container.call("GetBlob", () => container.blob(key).download(3, 7));
    if ((await text(readableStreamBody!)) !== BYTES.toString("utf8", 3, 10))
      throw new Error("it answers a range with other bytes");
  },
  list: async ({ container, key }) => {
    if ((await Array.fromAsync(azureObjects(container).list(key))).length !== 1)
      throw new Error("it does not list what was just written");
  },
  delete: ({ container, key }) => azureObjects(container).remove(key),
  "join parts": async ({ container, key }) => {
    const parts = azureParts(container);
    const upload = await parts.begin(key);
    try {
      await parts.send(upload, { number: 1, bytes: BYTES });
      await parts.join(upload, (await parts.list(upload)) ?? []);
    } finally {
      await parts.abort(upload).catch(() => {}); // the removal has a step of its own
    }
  },
};

const needsBlob = new Set(["write once", "read", "read a range", "list", "delete"]);

/** Returns what the container does not do as it must, one sentence each; an empty list if it can be used. */
export async function probeContainer(options: ContainerOptions): Promise<string[]> {
  using container = connectContainer({ attempts: 3, ...options });
  return await findFaults(() => runSteps(container));
}

async function runSteps(container: Container): Promise<string[]> {
  const faults: string[] = [];
  for (const [what, step] of Object.entries(steps)) {
    const key = `_downlink/probe-${randomBytes(8).toString("hex")}`;
    const fault = await faultOf(what, step, { container, key });
    if (fault !== undefined) faults.push(`${what}: ${fault}`);
  }
  return [...new Set(faults)];
}

/** Each step prepares what it needs, so that a step that is refused does not hide the others. */
async function faultOf(
  what: string,
  step: (probe: Probe) => Promise<void>,
  { container, key }: Probe,
): Promise<string | undefined> {
  const objects = azureObjects(container);
  try {
    if (needsBlob.has(what)) await objects.put(key, BYTES);
    await step({ container, key });
    return undefined;
  } catch (error) {
    if (error instanceof WrongCredentialsError) throw error;
    return (error as Error).message;
  } finally {
    await objects.remove(key).catch(() => {}); // has a step of its own
  }
}
