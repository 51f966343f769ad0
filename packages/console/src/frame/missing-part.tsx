import { signal } from "@preact/signals";
import { Empty } from "../parts/empty.tsx";

/** Why parts of the pages are missing: the service does not answer, has another version of them by now, or has this one and not the part. */
export const missingPart = signal<"away" | "replaced" | "broken" | undefined>(undefined);

/** Stands where a part of the pages could not be loaded. */
export function MissingPart() {
  if (missingPart.value === "away")
    return (
      <Empty title="This page cannot be loaded now: the control plane cannot be reached.">
        <p>It comes by itself as soon as the connection is back.</p>
      </Empty>
    );
  return (
    <Empty title="This page could not be loaded.">
      <p>Reload it.</p>
    </Empty>
  );
}
