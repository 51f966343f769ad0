import type { QueuedImport, Recording } from "@downlink/protocol";
import { showHidden } from "../parts/show-hidden.ts";
import { Age, ZonedTime } from "../parts/time.tsx";

/** Shows the history of a recording, as far as the service knows it, for the review of an incident. */
export function History({ recording, queued }: { recording: Recording; queued: QueuedImport | undefined }) {
  return (
    <ol class="history">
      {historyOf(recording, queued).map(({ atNs, text }) => (
        <li key={text} class="row">
          <span class="history-time">
            <ZonedTime timeNs={atNs} />
          </span>
          <span>{showHidden(text)}</span>
          <span class="muted">
            <Age timeNs={atNs} />
          </span>
        </li>
      ))}
    </ol>
  );
}

interface Moment {
  readonly atNs: bigint;
  readonly text: string;
}

/** Returns the moments that are known of a recording, in their order. */
function historyOf(recording: Recording, queued: QueuedImport | undefined): Moment[] {
  const { start, end, createdAt, importedAt, device, failure, importStatus } = recording;
  const moments: Moment[] = [
    { atNs: start, text: "First message, by the clock of the recorder" },
    { atNs: end, text: "Last message, by the clock of the recorder" },
    { atNs: createdAt, text: device ? `Reported by or for ${device.name}` : "Known here" },
  ];
  if (queued) {
    const by = queued.requestedBy ? ` by ${queued.requestedBy.name ?? queued.requestedBy.kind}` : "";
    moments.push({ atNs: queued.requestedAt, text: `Import requested${by}, with priority ${queued.priority}` });
  }
  if (importedAt !== undefined) {
    const text = importStatus === "failed" && failure ? `Import failed: ${failure.text}` : "Imported";
    moments.push({ atNs: importedAt, text });
  }
  return moments.sort((a, b) => Number(a.atNs - b.atNs));
}
