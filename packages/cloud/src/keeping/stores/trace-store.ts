import type { Tracing } from "@downlink/tracing";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";

const CALLS = [
  "put",
  "open",
  "stat",
  "delete",
  "createUpload",
  "listParts",
  "listPieces",
  "receivePart",
  "receivePiece",
  "composePart",
  "completeUpload",
  "abortUpload",
] as const satisfies readonly (keyof OpenedStore)[];

/**
 * Returns the same store, whose calls are spans of the work that makes them. Work that is not traced, such as the sweep's many looks,
 * begins no trace here.
 */
export function traceStore(store: OpenedStore, tracing: Tracing): OpenedStore {
  if (!tracing.isOn) return store;
  const traced = CALLS.map((name) => {
    const call = store[name] as (...given: unknown[]) => Promise<unknown>;
    const traceCall = (...given: unknown[]) => {
      if (tracing.traceparent() === undefined) return call(...given);
      return tracing.inSpan({ name: `store ${name}`, kind: "client" }, () => call(...given));
    };
    return [name, traceCall] as const;
  });
  return { ...store, ...(Object.fromEntries(traced) as Pick<OpenedStore, (typeof CALLS)[number]>) };
}
