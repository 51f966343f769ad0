import { devices, type Me, partUploads } from "@downlink/protocol";
import { useId, useLayoutEffect, useState } from "preact/hooks";
import { may } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { TextField } from "../parts/text-field.tsx";
import { askedFiles } from "./asked-files.ts";
import { whyLeftOut } from "./choose-files.ts";
import { FileButton } from "./file-button.tsx";
import { isSameFile } from "./kept-uploads.ts";
import "./upload-dialog.css";
import { addFiles, goOnWithFiles } from "./uploads.ts";

const MOST_OFFERED = 50;

interface DialogProps {
  readonly projectId: string;
  readonly me: Me;
  readonly onClose: () => void;
}

/** Asks whose recordings the files are. Files of interrupted uploads go on without a question. */
export function UploadDialog({ projectId, me, onClose }: DialogProps) {
  const { files, add, remove, isAsked } = useFiles(onClose);
  const [device, setDevice] = useState("");
  const [sessionKey, setSessionKey] = useState("");
  const [isSent, setSent] = useState(false);
  if (!isAsked) return null;
  const taken = files.filter((file) => whyLeftOut(file) === undefined);
  const belonging = { projectId, device: device.trim(), sessionKey: sessionKey.trim() || undefined, userId: me.id };
  const problems = problemsOf(belonging);
  const submit = () => {
    setSent(true);
    if (Object.keys(problems).length > 0) return;
    addFiles(taken, belonging);
    onClose();
  };
  return (
    <FormDialog
      title="Upload files"
      deed="Upload"
      isRunning={false}
      failure={undefined}
      isDisabled={taken.length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <Files {...{ files, add, remove }} />
      <DeviceField {...{ projectId, me, device, setDevice, problem: isSent ? problems.device : undefined }} />
      <TextField
        label="Session key (optional)"
        hint="Files with the same key belong to one session of the device."
        problem={isSent ? problems.sessionKey : undefined}
        value={sessionKey}
        onChange={setSessionKey}
        autoComplete="off"
      />
    </FormDialog>
  );
}

/** Collects what is chosen in the dialog and dropped on the page. `isAsked`: some files are still to be asked about, or to be chosen. */
function useFiles(onClose: () => void) {
  const [files, setFiles] = useState<readonly File[] | undefined>();
  const add = (more: readonly File[]) => {
    const rest = goOnWithFiles(more);
    if (more.length > 0 && rest.length === 0 && !files?.length) return onClose();
    setFiles((before = []) => [...before, ...rest.filter((file) => !before.some((one) => isSameFile(one, file)))]);
  };
  const dropped = askedFiles.value;
  useLayoutEffect(() => add(dropped ?? []), [dropped]);
  const remove = (file: File) => setFiles((before = []) => before.filter((one) => one !== file));
  return { files: files ?? [], add, remove, isAsked: files !== undefined };
}

type Problems = Partial<Record<"device" | "sessionKey", string>>;

/** Compares with the contract, so that what is not valid is said before the files are read. */
function problemsOf({
  projectId,
  device,
  sessionKey,
}: {
  projectId: string;
  device: string;
  sessionKey: string | undefined;
}): Problems {
  const body = { projectId, deviceName: device, sessionKey, filename: "x", size: 1 };
  const { error } = partUploads.create.body.safeParse(body);
  const about = (field: string) => error?.issues.find(({ path }) => path[0] === field)?.message;
  const [ofDevice, ofSession] = [about("deviceName"), about("sessionKey")];
  return {
    ...(ofDevice && { device: `A name ${ofDevice}.` }),
    ...(ofSession && { sessionKey: `A key ${ofSession}.` }),
  };
}

interface FilesProps {
  readonly files: readonly File[];
  readonly add: (files: readonly File[]) => void;
  readonly remove: (file: File) => void;
}

function Files({ files, add, remove }: FilesProps) {
  const leftOut = files.filter((file) => whyLeftOut(file) !== undefined);
  return (
    <div class="stack">
      <div class="row">
        <FileButton text={files.length === 0 ? "Choose files…" : "Choose more…"} isMultiple onFiles={add} />
        <span class="muted">or drop them on the page</span>
      </div>
      {files.length > leftOut.length && (
        <ul class="upload-files" aria-label="Files to upload">
          {files.map(
            (file) =>
              !leftOut.includes(file) && (
                <li key={file}>
                  <ForeignText text={file.name} />
                  <span class="muted nowrap">{formatBytes(file.size)}</span>
                  <Button
                    text="✕"
                    class="plain small"
                    aria-label={`Leave out ${showHidden(file.name)}`}
                    onClick={() => remove(file)}
                  />
                </li>
              ),
          )}
        </ul>
      )}
      <div role="status">
        {leftOut.length > 0 && (
          <ul class="left-out" aria-label="Files that are left out">
            {leftOut.map((file) => (
              <li key={file}>
                <ForeignText text={file.name} /> {whyLeftOut(file)}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

interface DeviceFieldProps extends Pick<DialogProps, "projectId" | "me"> {
  readonly device: string;
  readonly setDevice: (device: string) => void;
  readonly problem: string | undefined;
}

function DeviceField({ projectId, me, device, setDevice, problem }: DeviceFieldProps) {
  const listId = useId();
  const isEnabled = may(me, "devices.list");
  const wanted = { projectId, nameMatches: device.trim() || undefined, limit: MOST_OFFERED, sortBy: "name" as const };
  const { data } = useQuery(devices.list, wanted, { isEnabled });
  return (
    <div>
      <TextField
        label="Device"
        hint="The name of the robot. A device that does not exist is made."
        problem={problem}
        value={device}
        onChange={setDevice}
        list={listId}
        required
        autoComplete="off"
      />
      <datalist id={listId}>
        {data?.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </div>
  );
}
