import type { QueuedImport } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { Advice } from "../parts/advice.tsx";
import { Time, ZoneName } from "../parts/time.tsx";

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
        <strong>Waits:</strong> {text}
        {until !== undefined && (
          <>
            {" "}
            Until <Time timeNs={until} /> <ZoneName />.
          </>
        )}
      </p>
      {fix !== undefined && <Advice text={fix} />}
      {children && <p class="row">{children}</p>}
    </div>
  );
}
