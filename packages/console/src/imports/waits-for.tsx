import type { QueuedImport } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { Advice } from "../parts/advice.tsx";
import { Time, ZoneName } from "../parts/time.tsx";

interface WaitsForProps {
  readonly reason: NonNullable<QueuedImport["waitsFor"]>;
  /** Where more about it is found. */
  readonly children?: ComponentChildren;
}

/** Why it waits, and what somebody can do about it. */
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
