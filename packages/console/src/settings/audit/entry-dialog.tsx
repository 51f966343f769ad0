import type { AuditEntry } from "@downlink/protocol";
import { Copy } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { ZonedTime } from "../../parts/time.tsx";
import "./audit.css";
import { kindWords, operationWords, resourceText } from "./operation-words.ts";

/** Shows one entry with the fields before and after it. */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { at, actor, operation, address, requestId, before, after } = entry;
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return (
    <Dialog title={operationWords(operation)} onClose={onClose} isWide>
      <Facts
        facts={[
          ["When", <ZonedTime timeNs={at} />],
          ["Operation", operation],
          ["By", [kindWords(actor.kind), actor.name, actor.id].filter(Boolean).join(" ")],
          ["On", resourceText(entry)],
          ["From", address ?? "—"],
          ["Request", requestId ? <Copy text={requestId} /> : "—"],
        ]}
      />
      {fields.length > 0 && (
        <table class="changes">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field}>
                <th scope="row">
                  <ForeignText text={field} />
                </th>
                <td>
                  <ForeignText text={show(before?.[field])} />
                </td>
                <td>
                  <ForeignText text={show(after?.[field])} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "—";
  return typeof value === "string" ? value : JSON.stringify(value);
}
