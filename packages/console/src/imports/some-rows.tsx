import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";

interface SomeRowsProps<T> {
  readonly rows: readonly T[];
  /** How many are shown at first. */
  readonly few: number;
  readonly children: (row: T) => ComponentChildren;
}

/** Shows the first rows of a group, and the others when they are asked for: a group of hundreds would hide the next group. */
export function SomeRows<T>({ rows, few, children }: SomeRowsProps<T>) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? rows : rows.slice(0, few);
  return (
    <>
      <ul class="import-rows">{shown.map(children)}</ul>
      {shown.length < rows.length && (
        <Button
          text={`Show ${formatCount(rows.length - shown.length)} more`}
          class="small"
          onClick={() => setShowsAll(true)}
        />
      )}
    </>
  );
}
