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
  const { name, size, state, projectId } = upload;
  const { phase, recordingId, problem } = state;
  return (
    <li class="upload">
      <p class="upload-name">
        <ForeignText text={name} /> <span class="muted nowrap">{formatBytes(size)}</span>
      </p>
      <Bar upload={upload} />
      <p class={phase === "failed" ? "upload-text bad" : "upload-text"}>
        {showHidden(textOf(upload))}
        {recordingId !== undefined && (
          <>
            {" · "}
            <a href={pagePath(projectId, "recordings", recordingId)} aria-label={`Open the recording of ${name}`}>
              Open the recording
            </a>
          </>
        )}
      </p>
      {phase === "interrupted" && problem !== undefined && <p class="upload-text bad">{showHidden(problem)}</p>}
      <Actions {...{ upload, onGone }} />
    </li>
  );
}

/** It shows what was hashed while the file is checked, and then what was sent. */
function Bar({ upload: { name, size, state } }: Pick<RowProps, "upload">) {
  if (isEnded(state) || state.phase === "failed") return null;
  const bytes = state.phase === "checking" ? state.checkedBytes : state.sentBytes;
  if (state.phase === "importing") return <progress aria-label={`${name} is being imported`} />;
  return <progress aria-label={`Progress of ${name}`} value={bytes} max={size} />;
}

function Actions({ upload, onGone }: RowProps) {
  const { id, name, state } = upload;
  const [isAsked, setAsked] = useState(false);
  if (state.phase === "importing") return null;
  if (isEnded(state)) return <ClearButton {...{ upload, onGone }} />;
  if (isAsked) return <Question {...{ upload, onGone, onKeep: () => setAsked(false) }} />;
  const isRunning = isUnderWay(state);
  return (
    <div class="row upload-actions">
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
      {state.phase === "failed" && (
        <Button text="Try again" aria-label={`Try again with ${name}`} class="small" onClick={() => goOn(id)} />
      )}
      <Button text="Give up" aria-label={`Give up ${name}`} class="small plain" onClick={() => setAsked(true)} />
    </div>
  );
}

function ClearButton({ upload: { id, name }, onGone }: RowProps) {
  const onClick = () => {
    clear(id);
    onGone();
  };
  return <Button text="✕" class="plain small upload-clear" aria-label={`Clear ${name}`} onClick={onClick} />;
}

/** It takes the focus, and gives it back when the upload is kept. */
function Question({ upload, onGone, onKeep }: RowProps & { readonly onKeep: () => void }) {
  const keep = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => keep.current?.querySelector("button")?.focus(), []);
  const end = () => {
    void giveUp(upload);
    onGone();
  };
  return (
    <div class="stack upload-question" role="alert" ref={keep}>
      <p>Give it up? What was sent of it is removed.</p>
      <div class="row upload-actions">
        <Button text="Keep it" class="small" onClick={onKeep} />
        <Button text="Give it up" class="small danger" onClick={end} />
      </div>
    </div>
  );
}
