import type { Episode } from "@downlink/protocol";
import { Badge } from "../parts/badge.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import "../parts/list-bars.css";
import { isSelected, type Selection } from "../parts/selection.ts";
import { Time } from "../parts/time.tsx";
import { formatDuration, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";

interface TableProps {
  readonly projectId: string;
  readonly rows: readonly (Episode & { readonly change?: "added" | "removed" })[];
  readonly selection?: Selection;
  readonly onToggle?: (id: string) => void;
}

export function EpisodeTable({ projectId, rows, selection, onToggle }: TableProps) {
  return (
    <div class="scroll-x">
      <table class="plain-table card">
        <thead>
          <tr>
            {selection && (
              <th>
                <span class="unseen">Selected</span>
              </th>
            )}
            <th>Start ({zoneName(zone.value)})</th>
            <th class="wide-only">Lasts</th>
            <th>Metadata</th>
            <th>Data</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.change}${row.id}`} {...{ row, projectId, selection, onToggle }} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Omit<TableProps, "rows"> {
  readonly row: TableProps["rows"][number];
}

function Row({ row, projectId, selection, onToggle }: RowProps) {
  const { id, startTime, endTime, metadata, hasMissingRecordings, change } = row;
  const sign = change === "added" ? "+" : "−";
  return (
    <tr>
      {selection && (
        <td>
          <input
            type="checkbox"
            aria-label="Select"
            checked={isSelected(selection, id)}
            onChange={() => onToggle?.(id)}
          />
        </td>
      )}
      <td>
        {change && <strong class={change}>{sign} </strong>}
        <a href={pagePath(projectId, "episodes", id)}>
          <Time timeNs={startTime} />
        </a>
      </td>
      <td class="wide-only">{formatDuration(endTime - startTime)}</td>
      <td>
        <ForeignText text={describe(metadata)} />
      </td>
      <td>
        {hasMissingRecordings ? (
          <Badge text="some is missing" sign="▲" tone="warn" />
        ) : (
          <Badge text="here" sign="■" tone="imported" />
        )}
      </td>
    </tr>
  );
}

function describe(metadata: unknown): string {
  const entries = Object.entries(metadata as Record<string, unknown>).slice(0, 5);
  return (
    entries.map(([key, value]) => `${key}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · ") ||
    "—"
  );
}
