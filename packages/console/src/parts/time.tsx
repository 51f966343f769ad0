import { formatAge, formatExact, formatSecond, zoneName } from "../time/format-time.ts";
import { timeText, zone } from "../time/zone.ts";

/** Shows a time to the second in the zone that was chosen. Where a pointer rests it is shown to the nanosecond. */
export function Time({ timeNs }: { timeNs: bigint }) {
  return (
    <time dateTime={formatExact(timeNs)} title={formatExact(timeNs)} class="nowrap">
      {formatSecond(timeNs, zoneName(zone.value))}
    </time>
  );
}

/** Shows a time to the second with its zone, where no head of a column names the zone. */
export function ZonedTime({ timeNs }: { timeNs: bigint }) {
  return (
    <>
      <Time timeNs={timeNs} /> <ZoneName />
    </>
  );
}

/** Shows how long ago something was, with the moment itself where a pointer rests. */
export function Age({ timeNs }: { timeNs: bigint }) {
  return (
    <time dateTime={formatExact(timeNs)} title={timeText(timeNs)}>
      {formatAge(timeNs, Date.now())}
    </time>
  );
}

/** Shows `UTC`, or the name of the browser's zone: it stands beside times, because a time without a zone says nothing. */
export function ZoneName() {
  return <span class="muted">{zoneName(zone.value)}</span>;
}
