import type { TrainingMapping } from "@downlink/protocol";
import { formatCount, formatMany } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { type SummedPart, sumUpParts, type Trial } from "./sum-up-parts.ts";
import { WideTable } from "./wide-table.tsx";

interface TableProps {
  readonly trial: Trial;
  readonly mapping: TrainingMapping;
}

/** Shows each topic that becomes a table, in all episodes that were tried. */
export function TopicTable({ trial: { episodes }, mapping }: TableProps) {
  const topics = sumUpParts(episodes, mapping);
  if (topics.length === 0) return null;
  return (
    <WideTable title="Topics">
      <thead>
        <tr>
          <th>Topic</th>
          <th>Schema</th>
          <th class="number">Messages</th>
          <th>Columns</th>
        </tr>
      </thead>
      <tbody>
        {topics.map((one) => (
          <Topic key={one.topic} topic={one} />
        ))}
      </tbody>
    </WideTable>
  );
}

function Topic({
  topic: { topic, schemaName = "", messageCount, withoutValue, reason, columns },
}: {
  topic: SummedPart;
}) {
  return (
    <tr>
      <th scope="row">
        <span class="feature-name">
          <ForeignText text={topic} />
        </span>
        {withoutValue > 0 && (
          <p class="field-problem">
            {formatCount(withoutValue)} cannot be read{reason !== undefined && `: ${showHidden(reason)}`}
          </p>
        )}
      </th>
      <td>
        <ForeignText text={schemaName} />
      </td>
      <td class="number">{formatCount(messageCount)}</td>
      <td>{columns.length > 0 && <Columns columns={columns} />}</td>
    </tr>
  );
}

function Columns({ columns }: Pick<SummedPart, "columns">) {
  return (
    <details>
      <summary>{formatMany(columns.length, "column")}</summary>
      <ul>
        {columns.map(({ name, type }) => (
          <li key={name}>
            <ForeignText text={name} /> <span class="muted">{type}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
