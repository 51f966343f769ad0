import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { Button } from "../parts/button.tsx";
import type { EpisodeSource } from "./episode-source.ts";

/** The dialog is loaded when it is opened. */
const DatasetDialog = lazyPart(() => import("./dataset-dialog.tsx").then((part) => part.DatasetDialog));

interface ButtonProps {
  readonly projectId: string;
  readonly source: EpisodeSource;
  /** Absent for `Dataset…`. */
  readonly text?: string;
  readonly class?: string;
}

/** Opens the dialog that makes a dataset of rows, or adds them to one. Nothing is shown to users who may not. */
export function DatasetButton({ text = "Dataset…", class: className = "", ...source }: ButtonProps) {
  const { data: me } = useMe();
  const [isOpen, setOpen] = useState(false);
  if (!may(me, "episodes.create") || !may(me, "datasets.update")) return null;
  return (
    <>
      <Button text={text} class={className} onClick={() => setOpen(true)} />
      {isOpen && <DatasetDialog {...source} onClose={() => setOpen(false)} />}
    </>
  );
}
