import type { QueuedImport, Recording } from "@downlink/protocol";
import { Age, Time, ZoneName } from "../parts/time.tsx";
import { historyOf } from "./recording-history.ts";

/** Shows the history of a recording, as far as the service knows it, for the review of an incident. */
export function History({ recording, queued }: { recording: Recording; queued: QueuedImport | undefined }) {
  return (
    <ol class="history">
      {historyOf(recording, queued).map(({ atNs, text }) => (
        <li key={text} class="row">
          <span class="history-time">
            <Time timeNs={atNs} /> <ZoneName />
          </span>
          <span>{text}</span>
          <span class="muted">
            <Age timeNs={atNs} />
          </span>
        </li>
      ))}
    </ol>
  );
}
