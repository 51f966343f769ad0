import type { Metrics } from "./metrics.ts";

/** Reads the resources that this process uses; the utilization covers the time since the last reading. */
export function observeProcess({ metrics, stopping }: { metrics: Metrics; stopping: AbortSignal }): () => void {
  let loop = performance.eventLoopUtilization();
  let cpu = { user: 0, system: 0 };
  return () => {
    const { user, system } = process.cpuUsage();
    metrics.cpuSeconds.inc((user - cpu.user + system - cpu.system) / 1e6);
    cpu = { user, system };
    metrics.eventLoopUtilization.set(performance.eventLoopUtilization(loop).utilization);
    loop = performance.eventLoopUtilization();
    metrics.residentBytes.set(process.memoryUsage.rss());
    metrics.stopping.set(stopping.aborted ? 1 : 0);
    for (const observe of metrics.observers) observe();
  };
}
