import { devices, type QueuedImport, type Recording, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, mayCall, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { DatasetButton } from "../curate/dataset-button.tsx";
import { PartOf } from "../cuts/part-of.tsx";
import { ExportDialog } from "../export/export-dialog.tsx";
import type { ExportSource } from "../export/export-source.ts";
import { OpenButton } from "../export/open-button.tsx";
import { importItems } from "../fleet/import-items.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { StatusBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { CommandWords } from "../parts/command-words.tsx";
import { shownPath } from "../parts/cut-text.ts";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { Menu, type MenuItem } from "../parts/menu.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Time, ZoneName } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { formatBeside, formatDay, formatDuration, zoneName } from "../time/format-time.ts";
import { minuteText, zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { useNeighbours } from "./neighbours.ts";
import { describeDamage, describeState } from "./recording-state.ts";

const CutDialog = lazyPart(() => import("../cuts/cut-dialog.tsx").then((part) => part.CutDialog));

interface HeaderProps {
  readonly recording: Recording;
  readonly queued: QueuedImport | undefined;
}

export function RecordingHeader({ recording, queued }: HeaderProps) {
  const { start, end, size } = recording;
  return (
    <header class="recording-header">
      <div class="recording-about">
        <Title recording={recording} />
        <p class="row muted">
          <span>
            <Time timeNs={start} /> – <Time timeNs={end} /> <ZoneName />
          </span>
          <span>{formatDuration(end - start)}</span>
          <span>{formatBytes(size)}</span>
        </p>
        {recording.cutOf && <PartOf projectId={recording.projectId} cutOf={recording.cutOf} />}
        <State {...{ recording, queued }} />
      </div>
      <div class="row">
        <Neighbours recording={recording} />
        <Actions recording={recording} />
      </div>
    </header>
  );
}

/** Names the recording after its device and its day, as a path to it. */
function Title({ recording }: Pick<HeaderProps, "recording">) {
  const { projectId, path, device, start } = recording;
  return (
    <div class="recording-title">
      {device && (
        <>
          <a class="muted" href={pagePath(projectId, "devices", device.name)}>
            <ForeignText text={device.name} />
          </a>
          <span class="muted">/</span>
        </>
      )}
      <span class="muted">{formatDay(start, zoneName(zone.value))} /</span>
      <h1 title={showHidden(path)}>
        <ForeignText text={shownPath(recording)} />
      </h1>
    </div>
  );
}

function State({ recording, queued }: HeaderProps) {
  const { damage, importStatus, storedDamage, device, projectId } = recording;
  const { data: me } = useMe();
  const isEnabled = importStatus === "none" && device !== undefined && mayCall(me, devices.get);
  const { data } = useQuery(devices.get, { nameOrId: device?.id ?? "", projectId }, { isEnabled });
  const { text, fix } = describeState({ ...recording, agent: data?.agent }, queued, Date.now());
  const isCalm = importStatus === "complete" && !damage && !storedDamage;
  return (
    <div class={isCalm ? "recording-state calm" : "recording-state"} role="status">
      <p class="row">
        <StatusBadge status={importStatus} isDamaged={storedDamage !== undefined} />
        <span>
          {text} {fix && <CommandWords text={fix} />}
        </span>
      </p>
      {damage && (
        <details class="recording-damage">
          <summary>{describeDamage(damage)}</summary>
          <ul>
            {damage.reasons.map(({ code, text: reason }) => (
              <li key={reason}>
                <code>{code}</code> {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Neighbours({ recording }: { recording: Recording }) {
  const { before, after } = useNeighbours(recording);
  const clock = (to: Recording) => formatBeside(to.start, recording.start, zoneName(zone.value));
  const link = (to: Recording, which: "Earlier" | "Later", text: string) => (
    <a
      class="button"
      href={pagePath(to.projectId, "recordings", to.id)}
      title={to.path}
      aria-label={`${which} recording of ${showHidden(to.device?.name ?? "the device")}, ${minuteText(to.start)}`}
    >
      {text}
    </a>
  );
  return (
    <>
      {before && link(before, "Earlier", `‹ ${clock(before)}`)}
      {after && link(after, "Later", `${clock(after)} ›`)}
    </>
  );
}

function Actions({ recording }: { recording: Recording }) {
  const { data: me } = useMe();
  const [open, setOpen] = useState<Opening | undefined>();
  const request = useChange(recordings.requestImport, recordings.get, recordings.list);
  const cancel = useChange(recordings.cancelImport, recordings.get, recordings.list);
  const { id: keyOrId, projectId, importStatus } = recording;
  const isHere = importStatus === "complete";
  const mayExport = isHere && may(me, "data.stream");
  const canAsk = importStatus === "failed" || (importStatus === "none" && !recording.cutOf);
  const mayImport = canAsk && may(me, "data.upload");
  const run = async (priority: number) =>
    (await request.run({ keyOrId, priority })) && toast("Its import was requested.");
  const stop = async () => (await cancel.run({ keyOrId })) && toast("The request was cancelled.");
  useShortcuts([
    ...(mayImport ? [{ keys: "i", does: "Import it", run: () => void run(0) }] : []),
    ...(mayExport ? [{ keys: "d", does: "Export or download it", run: () => setOpen("export") }] : []),
  ]);
  const failure = request.failure ?? cancel.failure;
  const items = [
    ...importItems((priority) => void run(priority)),
    ...(importStatus === "none" ? [{ text: "Import a part…", onChoose: () => setOpen("cut") }] : []),
  ];
  return (
    <>
      {mayImport && <Menu label="Import" class="primary" items={items} />}
      {importStatus === "pending" && may(me, "data.upload") && (
        <Button text="Cancel the import" disabled={cancel.isRunning} onClick={() => void stop()} />
      )}
      {isHere && (
        <DatasetButton {...{ projectId, source: { kind: "recordings", ids: [keyOrId] } }} text="Add to dataset" />
      )}
      {isHere && <OpenButton source={sourceOf(recording)} />}
      {mayExport && <Button text="Export…" class="primary" onClick={() => setOpen("export")} />}
      <More recording={recording} onDelete={() => setOpen("delete")} />
      {failure && <Failed failure={failure} />}
      {open && <Opened {...{ recording, open }} onClose={() => setOpen(undefined)} />}
    </>
  );
}

type Opening = "export" | "delete" | "cut";

interface OpenedProps {
  readonly recording: Recording;
  readonly open: Opening;
  readonly onClose: () => void;
}

function Opened({ recording, open, onClose }: OpenedProps) {
  const { projectId, start, end } = recording;
  if (open === "export") return <ExportDialog source={sourceOf(recording)} onClose={onClose} />;
  if (open === "delete") return <DeleteDialog recording={recording} onClose={onClose} />;
  return <CutDialog {...{ projectId, onClose }} wholes={[recording]} span={{ startNs: start, endNs: end }} />;
}

function More({ recording: { id, importStatus, size }, onDelete }: { recording: Recording; onDelete: () => void }) {
  const { data: me } = useMe();
  const isHere = importStatus === "complete";
  const download = () => location.assign(`/v1/recordings/${encodeURIComponent(id)}/file`);
  const items: MenuItem[] = [];
  if (isHere && may(me, "data.stream"))
    items.push({ text: `Download the file (${formatBytes(size)})`, onChoose: download });
  if ((isHere || importStatus === "failed") && may(me, "recordings.delete"))
    items.push({ text: "Delete data…", isDangerous: true, onChoose: onDelete });
  return items.length === 0 ? null : <Menu label="More" items={items} />;
}

function sourceOf({ id, projectId, path, start, end, damage }: Recording): ExportSource {
  return {
    projectId,
    files: [{ name: path || id, by: { recordingId: id } }],
    span: { startNs: start, endNs: end },
    isWhole: true,
    path,
    damage: damage && describeDamage(damage),
  };
}
