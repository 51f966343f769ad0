import { coverage } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { statusText } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatExact } from "../time/format-time.ts";
import { resolveRange } from "../time/range.ts";
import { timeText } from "../time/zone.ts";
import { UploadButton } from "../uploads/upload-button.tsx";
import { pagePath } from "../url/project.ts";
import type { UrlParams } from "../url/use-params.ts";
import { activeFilters, type listParams } from "./filters.ts";

interface NoneProps {
  readonly params: UrlParams<typeof listParams>;
  readonly projectId: string;
}

/** Says why the list is empty: there is nothing at all, nothing at that time, or nothing that matches the filters. */
export function NoRecordings({ params, projectId }: NoneProps) {
  const filters = activeFilters(params.values);
  if (filters.length === 0) return <NothingYet projectId={projectId} />;
  return (
    <Empty
      title={
        filters.length === 1 && filters[0]!.name === "time"
          ? "Nothing at that time."
          : "No recording matches all filters."
      }
    >
      {filters.some(({ name }) => name === "time") && <Nearest {...{ params, projectId }} />}
      <div class="row">
        {filters.map(({ name, text, without }) => (
          <Button
            key={name}
            text={`✕ ${name}: ${name === "status" ? statusesOf(params) : showHidden(text)}`}
            class="small"
            onClick={() => params.set(without)}
          />
        ))}
      </div>
    </Empty>
  );
}

function statusesOf({ values }: NoneProps["params"]): string {
  return values.status.map(statusText).join(", ");
}

/** Shows the data that lies nearest to the range, one click away. */
function Nearest({ params: { values, set }, projectId }: NoneProps) {
  const { startNs: start, endNs: end } = resolveRange(values, Date.now());
  const { data } = useQuery(coverage.span, { projectId, includeEdgeRecordings: true, start, end });
  if (!data) return null;
  const buttons = [
    ["Before", data.previous],
    ["After", data.next],
  ] as const;
  return (
    <div class="row">
      {buttons.map(
        ([name, atNs]) =>
          atNs !== undefined && (
            <button key={name} type="button" class="small primary" onClick={() => set(dayAround(atNs))}>
              {name}: {timeText(atNs)}
            </button>
          ),
      )}
    </div>
  );
}

const HALF_DAY_NS = 43_200_000_000_000n;

function dayAround(atNs: bigint) {
  return { from: formatExact(atNs - HALF_DAY_NS), to: formatExact(atNs + HALF_DAY_NS) };
}

function NothingYet({ projectId }: { projectId: string }) {
  const command = [
    `LINK=$(curl -fsS -H "Authorization: Bearer $DOWNLINK_API_KEY" -H "Content-Type: application/json" \\`,
    `  -d '{"filename": "run.mcap", "deviceName": "my-robot", "projectId": "${projectId}"}' \\`,
    `  ${location.origin}/v1/data/upload | sed 's/.*"link":"\\([^"]*\\)".*/\\1/')`,
    `curl -f -T run.mcap "$LINK"`,
  ].join("\n");
  return (
    <Empty title="There is no recording yet.">
      <p>
        <a href={pagePath(projectId, "devices")}>Add a device</a>, whose agent reports its recordings. Or upload files
        here:
      </p>
      <UploadButton />
      <p>
        Or by a command, with an API key in <code>DOWNLINK_API_KEY</code>:
      </p>
      <CommandText text={command} />
      <Copy text={command} label="Copy" />
    </Empty>
  );
}
