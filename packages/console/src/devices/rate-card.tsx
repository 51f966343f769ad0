import type { AgentPoint, Device } from "@downlink/protocol";
import { formatBytes } from "../parts/bytes.ts";
import { Time, ZoneName } from "../parts/time.tsx";
import { toMs } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import { uploadRateOf } from "./device-facts.ts";
import { WeekCurve } from "./week-curve.tsx";

interface CardProps {
  readonly device: Device;
  readonly points: readonly AgentPoint[];
  readonly projectId: string;
}

/** Shows the upload rate of the device, what holds it back, and the rate of the last days. */
export function RateCard({ device, points, projectId }: CardProps) {
  const { throttle } = device.agent?.status ?? {};
  const curve = points.map(({ at, bytesPerSecond }) => ({ atMs: toMs(at), value: bytesPerSecond }));
  const highest = Math.max(0, ...curve.map(({ value }) => value));
  return (
    <section class="card stack" aria-label="Uploads">
      <h2>Uploads</h2>
      {throttle && (
        <p>
          <strong>Held back:</strong> {throttle.reason}
          {throttle.until !== undefined && (
            <>
              {" "}
              until <Time timeNs={throttle.until} /> <ZoneName />
            </>
          )}
          . <a href={`${pagePath(projectId, "devices", device.name)}?tab=settings`}>Settings</a>
        </p>
      )}
      <Transfers {...{ device, projectId }} />
      <WeekCurve
        label={`Bytes a second in the last seven days, at most ${formatBytes(Math.round(highest))}`}
        points={curve}
        highest={highest}
      />
    </section>
  );
}

function Transfers({ device, projectId }: Pick<CardProps, "device" | "projectId">) {
  const rate = uploadRateOf(device);
  const transfers = device.agent?.online ? (device.agent.status?.transfers ?? []) : [];
  if (rate === undefined) return <p class="muted">Its upload rate is not known while it is silent.</p>;
  if (transfers.length === 0) return <p class="muted">Nothing is being uploaded.</p>;
  return (
    <>
      <p>{formatBytes(rate)}/s together</p>
      <ul>
        {transfers.map(({ recordingId, sentBytes, bytesPerSecond }) => (
          <li key={recordingId} class="row">
            <a class="cut" href={pagePath(projectId, "recordings", recordingId)}>
              {recordingId}
            </a>
            <span class="muted">
              {formatBytes(sentBytes)} sent, {formatBytes(bytesPerSecond)}/s
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
