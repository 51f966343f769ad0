import { coverage, recordings } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { formatExact, formatSecond } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import type { UrlParams } from "../url/use-params.ts";
import type { coverageParams } from "./params.ts";
import { EARLIEST_NS, fitOf, hasWrongClock } from "./span.ts";

interface FitProps {
  readonly params: UrlParams<typeof coverageParams>;
  readonly projectId: string;
}

/** Shows the whole time that has data. Data far off, because a clock was wrong, is mentioned and widens nothing. */
export function FitButton({ params: { set }, projectId }: FitProps) {
  const span = useQuery(coverage.span, { projectId, includeEdgeRecordings: true });
  const isOdd = span.data !== undefined && hasWrongClock(span.data);
  const firstSane = useQuery(
    recordings.list,
    { projectId, start: EARLIEST_NS, sortBy: "start", sortOrder: "asc", limit: 1 },
    { isEnabled: isOdd },
  );
  const fit = span.data && fitOf(span.data, firstSane.data?.[0]?.start);
  const show = () => fit && set({ from: formatExact(fit.startNs), to: formatExact(fit.endNs) }, { isStep: true });
  return (
    <>
      <Button text="Fit" class="small" disabled={!fit} onClick={show} />
      {isOdd && span.data?.all && (
        <WrongClock firstNs={span.data.all.start} untilNs={fit!.startNs} {...{ projectId }} />
      )}
    </>
  );
}

/** Leads to the recordings whose times cannot be true. */
function WrongClock({ firstNs, untilNs, projectId }: { firstNs: bigint; untilNs: bigint; projectId: string }) {
  const endNs = untilNs < EARLIEST_NS ? EARLIEST_NS : untilNs;
  const { data } = useQuery(recordings.summarize, { projectId, end: endNs });
  if (!data || data.count === 0) return null;
  const search = new URLSearchParams({ to: formatExact(endNs) });
  const verb = data.count === 1 ? "recording lies" : "recordings lie";
  return (
    <a
      class="chip warn"
      href={`${pagePath(projectId, "recordings")}?${search}`}
      title={`The first begins at ${formatExact(firstNs)}`}
    >
      {formatCount(data.count)} {verb} in {formatSecond(firstNs, "UTC").slice(0, 4)}: the clock was wrong
    </a>
  );
}
