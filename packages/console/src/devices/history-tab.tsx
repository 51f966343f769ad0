import { type Device, devices } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import "../parts/plain-table.css";
import { Time, ZoneName } from "../parts/time.tsx";
import { timeText } from "../time/zone.ts";
import { type PropertyLane, propertyLanes, valueText } from "./property-lanes.ts";

const MOST = 500;

/** Shows the custom properties of a device over time: as lanes, and exactly in a table. */
export function HistoryTab({ device, projectId }: { device: Device; projectId: string }) {
  const input = { nameOrId: device.id, projectId, sortBy: "start", sortOrder: "desc", limit: MOST } as const;
  const { data, failure, again, isLoading } = useQuery(devices.listPropertyHistory, input);
  if (failure) return <Failed failure={failure} again={again} />;
  if (!data) return <ProgressLine isOn={isLoading} />;
  if (data.length === 0) return <Empty title="No custom property of this device was ever set." />;
  const { lanes } = propertyLanes(data, Date.now());
  return (
    <div class="stack">
      {data.length >= MOST && <p class="muted">The newest {MOST} values.</p>}
      <div class="card property-lanes" aria-hidden="true">
        {lanes.map((lane) => (
          <Lane key={lane.key} lane={lane} />
        ))}
      </div>
      <div class="scroll-x">
        <table class="plain-table" aria-label="Values of the properties">
          <thead>
            <tr>
              <th scope="col">Property</th>
              <th scope="col">Value</th>
              <th scope="col">
                From (<ZoneName />)
              </th>
              <th scope="col">Until</th>
            </tr>
          </thead>
          <tbody>
            {data.map(({ id, key, value, start, end }) => (
              <tr key={id}>
                <td>
                  <ForeignText text={key} />
                </td>
                <td>
                  <ForeignText text={valueText(value)} />
                </td>
                <td>
                  <Time timeNs={start} />
                </td>
                <td>{end === undefined ? "now" : <Time timeNs={end} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Lane({ lane: { key, spans } }: { lane: PropertyLane }) {
  return (
    <div class="property-lane">
      <span class="cut">
        <ForeignText text={key} />
      </span>
      <span class="property-track">
        {spans.map(({ interval, left, width }) => (
          <span
            key={interval.id}
            class="cut"
            style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
            title={`${showHidden(valueText(interval.value))}, from ${timeText(interval.start)}`}
          >
            <ForeignText text={valueText(interval.value)} />
          </span>
        ))}
      </span>
    </div>
  );
}
