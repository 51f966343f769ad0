import type { QueuedImport } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { Advice } from "../parts/advice.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { ZonedTime } from "../parts/time.tsx";
import { withTimes } from "../time/times-in-text.ts";

interface WaitsForProps {
  readonly reason: NonNullable<QueuedImport["waitsFor"]>;
  /** Links to more about it. */
  readonly children?: ComponentChildren;
}

/** Says why an import waits, and what a person can do about it. */
export function WaitsFor({ reason: { text, fix, until }, children }: WaitsForProps) {
  return (
    <div class="waits">
      <p>
        <strong>Waits:</strong> {showHidden(withTimes(text))}
        {until !== undefined && (
          <>
            {" "}
            Until <ZonedTime timeNs={until} />.
          </>
        )}
      </p>
      {fix !== undefined && <Advice text={fix} />}
      {children && <p class="row">{children}</p>}
    </div>
  );
}
