import { useEffect, useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { askedFiles } from "./asked-files.ts";
import "./upload-place.css";

/** The dialog is loaded when it is opened. */
const UploadDialog = lazyPart(() => import("./upload-dialog.tsx").then((part) => part.UploadDialog));

/** Takes files that are dropped anywhere on the page, and holds the dialog. A user who may not upload has none of it. */
export function UploadPlace({ projectId }: { projectId: string }) {
  const { data: me } = useMe();
  const mayUpload = may(me, "data.upload");
  const isOver = useDrop(mayUpload, (files) => {
    askedFiles.value = files;
  });
  const close = () => {
    askedFiles.value = undefined;
  };
  useEffect(() => close, []);
  return (
    <>
      {isOver && (
        <div class="drop-hint" aria-hidden="true">
          <p>Drop recordings here to upload them</p>
        </div>
      )}
      {me && mayUpload && askedFiles.value && <UploadDialog {...{ projectId, me, onClose: close }} />}
    </>
  );
}

/** Returns whether files are dragged over the page. Anything else that is dragged, such as a text, is left to the browser. */
function useDrop(isOn: boolean, onDrop: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!isOn) return;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      onDrop([...event.dataTransfer.files]);
    };
    const listeners = { dragenter: over, dragover: over, dragleave: leave, drop };
    for (const [kind, listen] of Object.entries(listeners)) addEventListener(kind, listen as EventListener);
    return () => {
      for (const [kind, listen] of Object.entries(listeners)) removeEventListener(kind, listen as EventListener);
    };
  }, [isOn]);
  return isOver;
}
