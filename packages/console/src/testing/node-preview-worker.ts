import { Worker } from "node:worker_threads";
import type { PreviewWorker } from "../preview/session.ts";

/** Makes the worker of the preview in a thread of Node, with what a browser gives it. `before` runs in it first. */
export function startNodeWorker(before = ""): PreviewWorker & { readonly exited: Promise<number> } {
  const code = `
    const { parentPort } = require("node:worker_threads");
    globalThis.postMessage = (message, transfer) => parentPort.postMessage(message, transfer);
    globalThis.close = () => process.exit();
    globalThis.addEventListener = (kind, listen) => parentPort.on(kind, (data) => listen({ data }));
    ${before}
    import(${JSON.stringify(new URL("../preview/worker.ts", import.meta.url).href)});`;
  const thread = new Worker(code, { eval: true });
  const worker: PreviewWorker & { readonly exited: Promise<number> } = {
    onmessage: null,
    onerror: null,
    postMessage: (message) => thread.postMessage(message),
    terminate: () => void thread.terminate(),
    exited: new Promise((done) => thread.once("exit", done)),
  };
  thread.on("message", (data) => worker.onmessage?.({ data } as MessageEvent));
  thread.on("error", (error) => worker.onerror?.(error as unknown as ErrorEvent));
  return worker;
}
