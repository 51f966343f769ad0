import type { Recording } from "@downlink/protocol";
import { Badge } from "./badge.tsx";
import { describePart } from "./cut-text.ts";

/** Marks a recording in a list as a part of another one. Nothing is shown for a whole one. */
export function CutBadge({ cutOf }: Pick<Recording, "cutOf">) {
  return cutOf ? <Badge sign="◧" text="Part" title={`A part of another recording: ${describePart(cutOf)}`} /> : null;
}
