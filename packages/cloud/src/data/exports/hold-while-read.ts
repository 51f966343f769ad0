import type { TakeTurn } from "../../calls/connections/yield-in-steps.ts";

/** The time since the last piece was passed on. */
const UNREAD_MS = 1000;

/**
 * Yields the same pieces, and holds a place while they are being read. A reader that takes too long over one piece gives the place to
 * others, and waits for another place before the next piece is made. So downloads that are not read, however many there are, do not keep
 * other callers from an export.
 */
export async function* holdWhileRead<T>(
  pieces: AsyncIterable<T>,
  takePlace: TakeTurn,
  unreadMs = UNREAD_MS,
): AsyncGenerator<T, void> {
  const making = pieces[Symbol.asyncIterator]();
  let place: Disposable | undefined;
  const leave = () => {
    place?.[Symbol.dispose]();
    place = undefined;
  };
  try {
    for (let hasBegun = false; ; hasBegun = true) {
      place ??= await takePlace({ hasBegun });
      const made = await making.next();
      if (made.done) return;
      const timer = setTimeout(leave, unreadMs);
      try {
        yield made.value;
      } finally {
        clearTimeout(timer);
      }
    }
  } finally {
    leave();
    await making.return?.();
  }
}
