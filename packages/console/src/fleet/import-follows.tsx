import type { Device } from "@downlink/protocol";
import { describeSilent } from "./silent.ts";

/** Says what follows from a request for many recordings. */
export function ImportFollows({ silent }: { silent: readonly Device[] }) {
  return (
    <>
      <p>The devices send these recordings over their own links, each in its turn.</p>
      {silent.length > 0 && <p>{describeSilent(silent)}</p>}
    </>
  );
}
