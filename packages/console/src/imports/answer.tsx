import type { ComponentChildren } from "preact";
import type { Query } from "../api/use-query.ts";
import { Failed } from "../parts/failed.tsx";
import { Age } from "../parts/time.tsx";

const OLD_MS = 30_000;

interface AnswerProps<T> {
  readonly query: Query<readonly T[]>;
  /** Shown while there is nothing. */
  readonly empty: ComponentChildren;
  readonly children: (found: readonly T[]) => ComponentChildren;
}

/** Shows an answer, its failure, or that it is empty. Data that is older than half a minute is marked. */
export function Answer<T>({ query: { data, failure, again, updatedAtMs }, empty, children }: AnswerProps<T>) {
  const isStale = data !== undefined && Date.now() - updatedAtMs > OLD_MS;
  return (
    <>
      {failure && <Failed failure={failure} again={again} />}
      {failure && isStale && (
        <p class="muted">
          As it was <Age timeNs={BigInt(updatedAtMs) * 1_000_000n} />.
        </p>
      )}
      {data === undefined && !failure && <p class="muted waiting">Asking…</p>}
      {data !== undefined && (data.length === 0 ? empty : children(data))}
    </>
  );
}
