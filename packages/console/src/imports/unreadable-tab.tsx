import { type EdgeFile, edgeFiles } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import type { Query } from "../api/use-query.ts";
import { Advice } from "../parts/advice.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatMany } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Age, Time, ZoneName } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { formatDuration } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import { Answer } from "./answer.tsx";
import { reasonTitle } from "./failure-advice.ts";
import { canSalvage, groupUnreadable, type UnreadableGroup } from "./group-unreadable.ts";
import { ImportPath } from "./import-cells.tsx";
import { SHOWN } from "./queries.ts";
import { SomeRows } from "./some-rows.tsx";

interface UnreadableProps {
  readonly files: Query<EdgeFile[]>;
  readonly projectId: string;
  readonly reason: string;
}

/** Lists the files on devices that are no recordings, and what can be salvaged of them. */
export function UnreadableTab({ files, projectId, reason }: UnreadableProps) {
  return (
    <Answer query={files} empty={<Empty title="Every file on the devices can be imported." />}>
      {(found) => {
        const groups = groupUnreadable(found, reason);
        if (groups.length === 0) return <Empty title={`No file has the reason “${reasonTitle(reason)}”.`} />;
        return (
          <>
            {found.length >= SHOWN && <p class="muted">The first {SHOWN}. A device narrows the list.</p>}
            {groups.map((group) => (
              <Group key={group.code} {...{ group, projectId }} />
            ))}
          </>
        );
      }}
    </Answer>
  );
}

function Group({ group: { code, title, next, files }, projectId }: { group: UnreadableGroup; projectId: string }) {
  return (
    <section class="card import-group" aria-label={title}>
      <header class="row">
        <h2 title={code}>{title}</h2>
        <span class="muted">{formatMany(files.length, "file")}</span>
      </header>
      <Advice text={next} />
      <SomeRows rows={files} few={20}>
        {(file) => <Row key={file.id} {...{ file, projectId }} />}
      </SomeRows>
    </section>
  );
}

function Row({ file, projectId }: { file: EdgeFile; projectId: string }) {
  const { path, device, size, modifiedAt, reason, salvage } = file;
  return (
    <li>
      <ImportPath {...{ path, projectId }} />
      <span class="cut">
        {device ? (
          <a href={pagePath(projectId, "devices", device.name)}>
            <ForeignText text={device.name} />
          </a>
        ) : (
          "—"
        )}
      </span>
      <span class="number">{formatBytes(size)}</span>
      <span class="muted">
        <Age timeNs={modifiedAt} />
      </span>
      <Salvage {...{ file, projectId }} />
      <div class="import-why">
        {reason && (
          <p>
            <ForeignText text={reason.text} />
          </p>
        )}
        {salvage && (
          <p>
            A salvage would keep {formatDuration(salvage.end - salvage.start)}: <Time timeNs={salvage.start} /> –{" "}
            <Time timeNs={salvage.end} /> <ZoneName />.
          </p>
        )}
      </div>
    </li>
  );
}

function Salvage({ file, projectId }: { file: EdgeFile; projectId: string }) {
  const { data: me } = useMe();
  const { id, path, salvageRequest } = file;
  const request = useChange(edgeFiles.salvage, edgeFiles.list);
  const run = async () => (await request.run({ id })) && toast(`${path} is being salvaged on the device.`);
  return (
    <>
      <span class="row import-actions">
        {salvageRequest?.state === "requested" && <span class="muted">The device salvages it…</span>}
        {salvageRequest?.state === "failed" && (
          <span class="muted">{showHidden(salvageRequest.reason?.text ?? "It failed.")}</span>
        )}
        {salvageRequest?.recordingId && (
          <a href={pagePath(projectId, "recordings", salvageRequest.recordingId)}>The salvaged recording</a>
        )}
        {canSalvage(file) && may(me, "data.upload") && (
          <Button
            text="Salvage"
            class="small"
            aria-label={`Salvage ${showHidden(path)}`}
            disabled={request.isRunning}
            onClick={() => void run()}
          />
        )}
      </span>
      {request.failure && <Failed failure={request.failure} />}
    </>
  );
}
