import type { AgentPoint, Device } from "@downlink/protocol";
import { formatBytes } from "../parts/bytes.ts";
import { formatAge, toMs } from "../time/format-time.ts";
import { DiskBar } from "./disk-bar.tsx";
import { type Forecast, forecastDisk } from "./forecast.ts";
import { WeekCurve } from "./week-curve.tsx";

interface CardProps {
  readonly device: Device;
  readonly points: readonly AgentPoint[];
}

export function DiskCard({ device, points }: CardProps) {
  const { disk } = device.agent?.status ?? {};
  const curve = points.flatMap(({ at, freeBytes }) =>
    freeBytes === undefined ? [] : [{ atMs: toMs(at), value: freeBytes }],
  );
  const highest = Math.max(disk?.totalBytes ?? 0, ...curve.map(({ value }) => value));
  return (
    <section class="card stack" aria-label="Disk">
      <h2>Disk</h2>
      {disk ? (
        <>
          <p class="row">
            <DiskBar device={device} />
            <span class="muted">of {formatBytes(disk.totalBytes)}</span>
          </p>
          <p>{forecastText(forecastDisk(points, Date.now()))}</p>
        </>
      ) : (
        <p class="muted">The agent has not reported its disk.</p>
      )}
      <WeekCurve label="Free space in the last seven days" points={curve} highest={highest} />
    </section>
  );
}

function forecastText(forecast: Forecast): string {
  if (forecast.kind === "unknown") return "A forecast is shown after six hours of data.";
  if (forecast.kind === "steady") return "At the rate of the last week it does not become full within three months.";
  const when = formatAge(BigInt(Math.round(forecast.atMs)) * 1_000_000n, Date.now());
  return `At the rate of the last week, ${formatBytes(Math.round(forecast.bytesPerDay))} a day, it is full ${when}.`;
}
