import type { Failure } from "../api/failure.ts";
import { Failed } from "../parts/failed.tsx";

interface TroubleProps {
  readonly secret: string | undefined;
  readonly failure: Failure | undefined;
  /** Says how to get another link. */
  readonly remedy: string;
  readonly again: () => void;
}

/** Says why a link does not work: it is cut off, it was used or is too old, or the service did not answer. */
export function LinkTrouble({ secret, failure, remedy, again }: TroubleProps) {
  if (secret === undefined)
    return (
      <p>
        The address lacks the part after the # of the link, which is removed once it was read. Open the complete link
        again.
      </p>
    );
  if (failure?.kind === "refused")
    return (
      <div class="failure" role="alert">
        <p>
          <strong>This link no longer works.</strong> It was used or withdrawn, a newer one was made, or it is too old.{" "}
          {remedy}
        </p>
      </div>
    );
  if (failure) return <Failed {...{ failure, again }} />;
  return <p class="muted">Checking the link…</p>;
}
