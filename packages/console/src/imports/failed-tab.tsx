import { pendingImports, recordings } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useManyChanges } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { formatCount, formatMany } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { toast } from "../parts/toast.tsx";
import { Answer } from "./answer.tsx";
import { type FailedImport, failedRecordings, failedUploads } from "./failed-import.ts";
import { reasonTitle, retryText } from "./failure-advice.ts";
import { FailureRow } from "./failure-row.tsx";
import { type FailureGroup, groupFailures } from "./group-failures.ts";
import { type Imports, SHOWN } from "./queries.ts";
import { SomeRows } from "./some-rows.tsx";

interface FailedProps {
  readonly imports: Imports;
  readonly projectId: string;
  readonly reason: string;
}

/** Lists the recordings whose import failed, as other pages count them, and below them the files that became no recording. */
export function FailedTab({ imports: { failed, failedSum, errors }, projectId, reason }: FailedProps) {
  const uploads = errors.data && failedUploads(errors.data);
  const ofRecordings = failed.data && errors.data && failedRecordings(failed.data, errors.data);
  const all = ofRecordings && uploads && [...ofRecordings, ...uploads];
  const count = failedSum.data?.count ?? 0;
  return (
    <Answer
      query={{ ...failed, failure: failed.failure ?? errors.failure, data: all }}
      empty={<Empty title="No import failed." />}
    >
      {(found) => (
        <>
          {groupFailures(found, reason).length === 0 && (
            <Empty title={`Nothing failed with “${reasonTitle(reason)}”.`} />
          )}
          <Part
            title={formatMany(count, "recording whose import failed", "recordings whose import failed")}
            imports={ofRecordings ?? []}
            {...{ projectId, reason }}
          />
          <Part
            title={formatMany(
              uploads?.length ?? 0,
              "upload that became no recording",
              "uploads that became no recording",
            )}
            imports={uploads ?? []}
            {...{ projectId, reason }}
          />
        </>
      )}
    </Answer>
  );
}

interface PartProps {
  readonly title: string;
  readonly imports: readonly FailedImport[];
  readonly projectId: string;
  readonly reason: string;
}

function Part({ title, imports, projectId, reason }: PartProps) {
  const groups = groupFailures(imports, reason);
  if (groups.length === 0) return null;
  return (
    <>
      <h2 class="import-part">{title}</h2>
      {imports.length >= SHOWN && <p class="muted">The newest {SHOWN}. A device narrows the list.</p>}
      {groups.map((group) => (
        <Group key={group.code} {...{ group, projectId }} />
      ))}
    </>
  );
}

function Group({ group, projectId }: { group: FailureGroup; projectId: string }) {
  const { data: me } = useMe();
  const { code, advice, imports, deviceNames } = group;
  return (
    <section class="card import-group" aria-label={advice.title}>
      <header class="row">
        <h3 title={code}>{advice.title}</h3>
        <span class="muted">
          {formatMany(imports.length, "file")}
          {deviceNames.length > 0 && ` · ${devicesText(deviceNames)}`}
        </span>
      </header>
      <p>
        {advice.next} {retryText(advice)}
      </p>
      {may(me, "data.upload") && <GroupActions group={group} />}
      <SomeRows rows={imports} few={20}>
        {(one) => <FailureRow key={one.id} {...{ one, projectId, advice }} />}
      </SomeRows>
    </section>
  );
}

function devicesText(names: readonly string[]): string {
  return names.length <= 2 ? names.join(", ") : `${formatCount(names.length)} devices`;
}

function GroupActions({ group: { imports, salvageable, advice } }: { group: FailureGroup }) {
  const stale = [recordings.list, recordings.summarize, pendingImports.errors, pendingImports.list] as const;
  const retry = useManyChanges(pendingImports.retry, ...stale);
  const salvage = useManyChanges(pendingImports.salvage, ...stale);
  const running = retry.progress ?? salvage.progress;
  const failure = retry.failure ?? salvage.failure;
  const retryable = requestsOf(imports);
  const retryAll = async () => {
    const failed = await retry.run(retryable);
    toast(`${retryable.length - failed.length} of ${retryable.length} are tried again.`);
  };
  const salvageAll = async () => {
    const failed = await salvage.run(requestsOf(salvageable));
    toast(`${salvageable.length - failed.length} of ${salvageable.length} are being salvaged.`);
  };
  return (
    <div class="row">
      {advice.retry !== "useless" && retryable.length > 1 && (
        <Button
          text={`Retry all ${formatCount(retryable.length)}`}
          class="small"
          disabled={running !== undefined}
          onClick={() => void retryAll()}
        />
      )}
      {salvageable.length > 1 && (
        <Button
          text={`Salvage all ${formatCount(salvageable.length)}`}
          class="small"
          disabled={running !== undefined}
          onClick={() => void salvageAll()}
        />
      )}
      {running && (
        <span role="status">
          {formatCount(running.done)} of {formatCount(running.of)}
        </span>
      )}
      {failure && <Failed failure={failure} />}
    </div>
  );
}

function requestsOf(imports: readonly FailedImport[]) {
  return imports.flatMap(({ request }) => (request ? [{ requestId: request.requestId }] : []));
}
