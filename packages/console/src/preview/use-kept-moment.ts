import { useEffect, useState } from "preact/hooks";
import { keepInEntry, readEntry } from "../browser/entry-state.ts";
import type { Span } from "./preview-window.ts";

const KEY = "moment";
/** A moment that rests for so long is kept: browsers bear no more than a few changes of an entry a second. */
const REST_MS = 300;

/** Holds the moment that is looked at, at first this one. Back and a reload come back to it. */
export function useKeptMoment(
  { startNs, endNs }: Span,
  firstNs = startNs,
): [momentNs: bigint, setMoment: (momentNs: bigint) => void] {
  const [momentNs, setMoment] = useState(() => readKept() ?? firstNs);
  useEffect(() => {
    const timer = setTimeout(() => keepInEntry(KEY, String(momentNs)), REST_MS);
    return () => clearTimeout(timer);
  }, [momentNs, startNs, endNs]); // another part is another address, whose entry begins without it
  return [momentNs, setMoment];
}

function readKept(): bigint | undefined {
  const kept = readEntry(KEY);
  return typeof kept === "string" ? BigInt(kept) : undefined;
}
