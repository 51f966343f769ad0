import type { TrainingMapping } from "@downlink/protocol";
import { formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { type SummedPart, sumUpParts, type Trial } from "./sum-up-parts.ts";
import { formatRange, formatShape } from "./training-texts.ts";
import { WideTable } from "./wide-table.tsx";

interface TableProps {
  readonly trial: Trial;
  readonly mapping: TrainingMapping;
}

/** Shows each feature with the topics of which it is made, in all episodes that were tried. */
export function FeatureTable({ trial: { episodes, features }, mapping }: TableProps) {
  const parts = Object.entries(Object.groupBy(sumUpParts(episodes, mapping), ({ feature }) => feature));
  if (parts.length === 0) return null;
  return (
    <WideTable title="Features">
      <thead>
        <tr>
          <th>Feature</th>
          <th>Made of</th>
          <th class="number">Messages</th>
          <th class="number">Rate</th>
          <th class="number">Greatest gap</th>
        </tr>
      </thead>
      {parts.map(([name, ofFeature = []]) => (
        <tbody key={name}>
          {ofFeature.map((part, place) => (
            <tr key={place}>
              {place === 0 && (
                <th scope="rowgroup" rowSpan={ofFeature.length}>
                  <Name name={name} shape={features[name]} />
                </th>
              )}
              <Part part={part} />
            </tr>
          ))}
        </tbody>
      ))}
    </WideTable>
  );
}

function Name({ name, shape }: { name: string; shape: Trial["features"][string] | undefined }) {
  return (
    <>
      <span class="feature-name">
        <ForeignText text={name} />
      </span>
      {shape && (
        <p class="nowrap">
          {shape.dtype}, {formatShape(shape.shape)}
        </p>
      )}
    </>
  );
}

function Part({ part: { topic, field, messageCount, withoutValue, reason, rateHz, gapMs } }: { part: SummedPart }) {
  return (
    <>
      <td>
        <ForeignText text={topic} />
        {field !== undefined && (
          <span class="muted">
            {" "}
            <ForeignText text={field} />
          </span>
        )}
        {withoutValue > 0 && (
          <p class="field-problem">
            {formatCount(withoutValue)} without a value{reason !== undefined && `: ${showHidden(reason)}`}
          </p>
        )}
      </td>
      <td class="number">{formatCount(messageCount)}</td>
      <td class="number nowrap">{formatRange(rateHz, "Hz")}</td>
      <td class="number nowrap">{formatRange(gapMs, "ms")}</td>
    </>
  );
}
