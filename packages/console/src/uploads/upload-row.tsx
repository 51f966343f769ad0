import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { pagePath } from "../url/project.ts";
import { FileButton } from "./file-button.tsx";
import { isEnded, isUnderWay } from "./upload-state.ts";
import { textOf } from "./upload-text.ts";
import { chooseAgain, clear, giveUp, goOn, pause, type Upload } from "./uploads.ts";

interface RowProps {
  readonly upload: Upload;
  /** Is called once the row was taken away by the user. */
  readonly onGone: () => void;
}

/** One file: where it is, and what the user can do about it. */
export function UploadRow({ upload, onGone }: RowProps) {
  const { name, size, state } = upload;
  const { phase, recordingId, problem } = state;
  return (
    <li class="upload">
      <p class="upload-name">
        <ForeignText text={name} /> <span class="muted nowrap">{formatBytes(size)}</span>
      </p>
      <Bar upload={upload} />
      <div class="upload-foot">
        <div class="grow">
          <p class={phase === "failed" ? "upload-text bad" : "upload-text"}>
            {showHidden(textOf(upload))}
            {recordingId !== undefined && <RecordingLink {...{ upload, recordingId }} />}
          </p>
          {phase === "interrupted" && problem !== undefined && <p class="upload-text bad">{showHidden(problem)}</p>}
        </div>
        <Actions {...{ upload, onGone }} />
      </div>
    </li>
  );
}

function RecordingLink({
  upload: { projectId, name },
  recordingId,
}: Pick<RowProps, "upload"> & { recordingId: string }) {
  const href = pagePath(projectId, "recordings", recordingId);
  return (
    <>
      {" · "}
      <a href={href} aria-label={`Open the recording of ${showHidden(name)}`}>
        Open the recording
      </a>
    </>
  );
}

/** It shows what was hashed while the file is checked, and then what was sent. */
function Bar({ upload }: Pick<RowProps, "upload">) {
  const { size, state } = upload;
  const name = showHidden(upload.name);
  const isIdle = state.phase === "waiting" && state.sentBytes === 0;
  if (isIdle || isEnded(state) || state.phase === "failed") return null;
  const bytes = state.phase === "checking" ? state.checkedBytes : state.sentBytes;
  if (state.phase === "importing") return <progress aria-label={`${name} is being imported`} />;
  return <progress aria-label={`Progress of ${name}`} value={bytes} max={size} />;
}

function Actions({ upload, onGone }: RowProps) {
  const { id, state } = upload;
  const name = showHidden(upload.name);
  const [isAsked, setAsked] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const keep = () => {
    setAsked(false);
    setTimeout(() => place.current?.querySelector<HTMLElement>("button:last-of-type")?.focus());
  };
  if (state.phase === "importing") return null;
  if (isEnded(state) || isLost(upload)) return <ClearButton {...{ upload, onGone }} />;
  if (isAsked) return <Question {...{ upload, onGone, onKeep: keep }} />;
  const isRunning = isUnderWay(state);
  return (
    <div class="row upload-actions" ref={place}>
      {state.phase === "interrupted" && (
        <FileButton
          text="Choose the file…"
          label={`Choose ${name} again`}
          class="small"
          onFiles={([file]) => file && chooseAgain(upload, file)}
        />
      )}
      {(isRunning || state.phase === "paused") && (
        <Button
          text={isRunning ? "Pause" : "Go on"}
          aria-label={`${isRunning ? "Pause" : "Go on with"} ${name}`}
          class="small"
          onClick={() => (isRunning ? pause(id) : goOn(id))}
        />
      )}
      {state.phase === "failed" && <AgainButton upload={upload} />}
      <Button text="Give up" aria-label={`Give up ${name}`} class="small plain" onClick={() => setAsked(true)} />
    </div>
  );
}

/** Nothing of it is at the service: there is nothing to give up. */
function isLost({ state, requestId }: Upload): boolean {
  return state.phase === "failed" && requestId === undefined;
}

function AgainButton({ upload: { id, name } }: Pick<RowProps, "upload">) {
  const label = `Try again with ${showHidden(name)}`;
  return <Button text="Try again" aria-label={label} class="small" onClick={() => goOn(id)} />;
}

function ClearButton({ upload, onGone }: RowProps) {
  const onClick = () => {
    clear(upload.id);
    onGone();
  };
  return (
    <>
      {isLost(upload) && (
        <div class="row upload-actions">
          <AgainButton upload={upload} />
        </div>
      )}
      <Button
        text="✕"
        class="plain small upload-clear"
        aria-label={`Clear ${showHidden(upload.name)}`}
        onClick={onClick}
      />
    </>
  );
}

/** It takes the focus. */
function Question({ upload, onGone, onKeep }: RowProps & { readonly onKeep: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelector("button")?.focus(), []);
  const end = () => {
    void giveUp(upload);
    onGone();
  };
  return (
    <div class="stack upload-question" role="alert" ref={place}>
      <p>Give it up? What was sent of it is removed.</p>
      <div class="row upload-actions">
        <Button text="Keep it" class="small" onClick={onKeep} />
        <Button text="Give it up" class="small danger" onClick={end} />
      </div>
    </div>
  );
}
