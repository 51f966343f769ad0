import { type QueuedImport, recordings } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount, formatMany } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatDuration } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import { Answer } from "./answer.tsx";
import { reasonTitle } from "./failure-advice.ts";
import { GroupMenu } from "./group-menu.tsx";
import { groupQueue, type QueueGroup, withReason } from "./group-queue.ts";
import { SHOWN } from "./queries.ts";
import { QueueRow } from "./queue-row.tsx";
import { SomeRows } from "./some-rows.tsx";
import { WaitsFor } from "./waits-for.tsx";

interface QueueProps {
  readonly queue: Query<QueuedImport[]>;
  readonly projectId: string;
  readonly reason: string;
  readonly onReason: (code: string) => void;
}

/** Lists the requested imports by device, with the reason where they wait. */
export function QueueTab({ queue, projectId, reason, onReason }: QueueProps) {
  return (
    <Answer query={queue} empty={<NothingWaits projectId={projectId} />}>
      {(entries) => {
        const groups = groupQueue(withReason(entries, reason));
        if (groups.length === 0) return <Empty title={`Nothing waits for “${reasonTitle(reason)}” any more.`} />;
        return (
          <>
            {entries.length >= SHOWN && <HowMany projectId={projectId} />}
            {groups.map((group) => (
              <Group key={group.key} {...{ group, projectId, onReason }} />
            ))}
          </>
        );
      }}
    </Answer>
  );
}

function NothingWaits({ projectId }: { projectId: string }) {
  return (
    <Empty title="Nothing waits for a device.">
      <p>
        Request what is only on devices in the list of <a href={pagePath(projectId, "recordings")}>recordings</a>.
      </p>
    </Empty>
  );
}

function HowMany({ projectId }: { projectId: string }) {
  const { data } = useQuery(recordings.summarize, { projectId, importStatus: ["pending"] }, { pollMs: 60_000 });
  return (
    <p class="muted">
      The first {SHOWN} by priority and time{data && ` of ${formatCount(data.count)}, ${formatBytes(data.bytes)}`}. A
      device narrows the list.
    </p>
  );
}

interface GroupProps {
  readonly group: QueueGroup;
  readonly projectId: string;
  readonly onReason: (code: string) => void;
}

function Group({ group, projectId, onReason }: GroupProps) {
  const { data: me } = useMe();
  const { entries, name, isDevice, waitsFor } = group;
  const mayChange = may(me, "data.upload");
  return (
    <section class="card import-group" aria-label={showHidden(name)}>
      <header class="row">
        <h2>
          {isDevice ? (
            <a href={pagePath(projectId, "devices", name)}>
              <ForeignText text={name} />
            </a>
          ) : (
            name
          )}
        </h2>
        <Sums group={group} />
        <span class="grow" />
        {mayChange && <GroupMenu {...{ entries, name }} />}
      </header>
      {waitsFor && (
        <WaitsFor reason={waitsFor}>
          {isDevice && (
            <a href={pagePath(projectId, "devices", name)}>
              Look at <ForeignText text={name} />
            </a>
          )}
          <Button text="All that wait for this" class="small plain" onClick={() => onReason(waitsFor.code)} />
        </WaitsFor>
      )}
      <SomeRows rows={entries} few={50}>
        {(entry) => (
          <QueueRow key={entry.requestId} {...{ entry, projectId, mayChange, saysWhy: waitsFor === undefined }} />
        )}
      </SomeRows>
    </section>
  );
}

function Sums({ group: { entries, bytes, bytesPerSecond, secondsLeft } }: { group: QueueGroup }) {
  const files = formatMany(entries.length, "file");
  return (
    <p class="row">
      <span class="muted">
        {files}, {formatBytes(bytes)}
      </span>
      {secondsLeft !== undefined && (
        <Badge
          tone="moving"
          sign="◔"
          text={`${formatBytes(bytesPerSecond)}/s, about ${formatDuration(BigInt(Math.ceil(secondsLeft)) * 1_000_000_000n)}`}
        />
      )}
    </p>
  );
}
