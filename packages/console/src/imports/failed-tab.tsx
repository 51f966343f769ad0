import { type PendingImport, pendingImports } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useManyChanges } from "../api/use-change.ts";
import type { Query } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { toast } from "../parts/toast.tsx";
import { Answer } from "./answer.tsx";
import { retryText } from "./failure-advice.ts";
import { FailureRow } from "./failure-row.tsx";
import { type FailureGroup, groupFailures } from "./group-failures.ts";
import { SHOWN } from "./queries.ts";
import { SomeRows } from "./some-rows.tsx";

interface FailedProps {
  readonly failed: Query<PendingImport[]>;
  readonly projectId: string;
  readonly reason: string;
}

export function FailedTab({ failed, projectId, reason }: FailedProps) {
  return (
    <Answer query={failed} empty={<Empty title="No import failed." />}>
      {(imports) => {
        const groups = groupFailures(imports, reason);
        if (groups.length === 0) return <Empty title={`Nothing failed with ${reason}.`} />;
        return (
          <>
            {imports.length >= SHOWN && <p class="muted">The newest {SHOWN}. A device narrows the list.</p>}
            {groups.map((group) => (
              <Group key={group.code} {...{ group, projectId }} />
            ))}
          </>
        );
      }}
    </Answer>
  );
}

function Group({ group, projectId }: { group: FailureGroup; projectId: string }) {
  const { data: me } = useMe();
  const { code, advice, imports, deviceNames } = group;
  return (
    <section class="card import-group" aria-label={advice.title}>
      <header class="row">
        <h2>{advice.title}</h2>
        <span class="muted">
          {imports.length === 1 ? "1 file" : `${formatCount(imports.length)} files`}
          {deviceNames.length > 0 && ` · ${devicesText(deviceNames)}`}
        </span>
        <code>{code}</code>
        <span class="grow" />
      </header>
      <p>
        {advice.next} {retryText(advice)}
      </p>
      {may(me, "data.upload") && <GroupActions group={group} />}
      <SomeRows rows={imports} few={20}>
        {(one) => <FailureRow key={one.requestId} {...{ one, projectId, advice }} />}
      </SomeRows>
    </section>
  );
}

function devicesText(names: readonly string[]): string {
  return names.length <= 2 ? names.join(", ") : `${formatCount(names.length)} devices`;
}

function GroupActions({ group: { imports, salvageable, advice } }: { group: FailureGroup }) {
  const stale = [pendingImports.errors, pendingImports.list] as const;
  const retry = useManyChanges(pendingImports.retry, ...stale);
  const salvage = useManyChanges(pendingImports.salvage, ...stale);
  const running = retry.progress ?? salvage.progress;
  const failure = retry.failure ?? salvage.failure;
  const namesOf = (some: readonly PendingImport[]) => some.map(({ requestId }) => ({ requestId }));
  const retryAll = async () => {
    const failed = await retry.run(namesOf(imports));
    toast(`${imports.length - failed.length} of ${imports.length} are tried again.`);
  };
  const salvageAll = async () => {
    const failed = await salvage.run(namesOf(salvageable));
    toast(`${salvageable.length - failed.length} of ${salvageable.length} are being salvaged.`);
  };
  return (
    <div class="row">
      {advice.retry !== "useless" && imports.length > 1 && (
        <Button
          text={`Retry all ${formatCount(imports.length)}`}
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
