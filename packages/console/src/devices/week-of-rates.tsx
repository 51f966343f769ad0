import { type RateDay, type RateSpan, rateLevel, rateText, spanText } from "./rate-week.ts";

const DAY_MINUTES = 1440;

/** Shows an upload rate as a week: a row for each day, higher where more may be sent. */
export function WeekOfRates({ days }: { days: readonly RateDay[] }) {
  return (
    <div>
      <table class="rate-week" aria-label="The upload rate in the course of a week">
        <tbody>
          {days.map(({ name, spans }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <span class="unseen">{spans.map(spanText).join(", ")}</span>
                <span class="rate-day" aria-hidden="true">
                  {spans.map((span) => (
                    <Span key={span.fromMinute} span={span} />
                  ))}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="rate-hours muted" aria-hidden="true">
        {[0, 6, 12, 18, 24].map((hour) => (
          <span key={hour}>{hour}:00</span>
        ))}
      </p>
    </div>
  );
}

/** A text fits into a tenth of the day. */
const LEAST_NAMED = 0.1;

function Span({ span }: { span: RateSpan }) {
  const part = (span.toMinute - span.fromMinute) / DAY_MINUTES;
  const level = rateLevel(span.bytesPerSecond);
  return (
    <span class="rate-span" title={spanText(span)} style={{ width: `${part * 100}%` }}>
      <span class={level === 0 ? "rate-fill off" : "rate-fill"} style={{ height: `${level * 100}%` }} />
      {part >= LEAST_NAMED && <span class="rate-name">{rateText(span.bytesPerSecond)}</span>}
    </span>
  );
}
