import { coverage, recordings } from "@downlink/protocol";
import { useEffect } from "preact/hooks";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { formatExact, formatSecond } from "../time/format-time.ts";
import type { Span } from "../timeline/view.ts";
import { pagePath } from "../url/project.ts";
import type { UrlParams } from "../url/use-params.ts";
import type { coverageParams } from "./params.ts";
import { EARLIEST_NS, fitOf, hasWrongClock, isUsualEnough } from "./span.ts";

interface FitProps {
  readonly params: UrlParams<typeof coverageParams>;
  readonly projectId: string;
}

/** The whole time that has data, and when the first recording of a wrong clock lies, if there is one. */
interface Fit {
  readonly fit: Span | undefined;
  readonly wrongNs: bigint | undefined;
}

function useFit(projectId: string): Fit {
  const span = useQuery(coverage.span, { projectId, includeEdgeRecordings: true });
  const isOdd = span.data !== undefined && hasWrongClock(span.data);
  const firstSane = useQuery(
    recordings.list,
    { projectId, start: EARLIEST_NS, sortBy: "start", sortOrder: "asc", limit: 1 },
    { isEnabled: isOdd },
  );
  if (!span.data || (isOdd && !firstSane.data)) return { fit: undefined, wrongNs: undefined };
  const fit = fitOf(span.data, firstSane.data?.[0]?.start);
  return { fit, wrongNs: isOdd ? span.data.all?.start : undefined };
}

/** Where the address names no time, shows all data, unless the usual range shows the last of much more. */
export function useFirstFit({ params: { values, set }, projectId }: FitProps): void {
  const { fit } = useFit(projectId);
  const isFirst = values.from === "" && values.to === "" && values.sel.length === 0;
  useEffect(() => {
    if (isFirst && fit && !isUsualEnough(fit, Date.now()))
      set({ from: formatExact(fit.startNs), to: formatExact(fit.endNs) });
  }, [isFirst, fit?.startNs, fit?.endNs]);
}

/** Shows the whole time that has data. Data far off, because a clock was wrong, is mentioned and widens nothing. */
export function FitButton({ params: { set }, projectId }: FitProps) {
  const { fit } = useFit(projectId);
  const show = () => fit && set({ from: formatExact(fit.startNs), to: formatExact(fit.endNs) }, { isStep: true });
  return <Button text="Fit" class="small plain" title="Show all data" disabled={!fit} onClick={show} />;
}

/** Leads to the recordings whose times cannot be true. */
export function WrongClock({ projectId }: { projectId: string }) {
  const { fit, wrongNs } = useFit(projectId);
  const endNs = fit && fit.startNs > EARLIEST_NS ? fit.startNs : EARLIEST_NS;
  const { data } = useQuery(recordings.summarize, { projectId, end: endNs }, { isEnabled: wrongNs !== undefined });
  if (wrongNs === undefined || !data || data.count === 0) return null;
  const search = new URLSearchParams({ to: formatExact(endNs) });
  const verb = data.count === 1 ? "recording lies" : "recordings lie";
  return (
    <a
      class="chip"
      href={`${pagePath(projectId, "recordings")}?${search}`}
      title={`The first begins at ${formatExact(wrongNs)}`}
    >
      {formatCount(data.count)} {verb} in {formatSecond(wrongNs, "UTC").slice(0, 4)}: the clock was wrong
    </a>
  );
}
