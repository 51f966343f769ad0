import { useState } from "preact/hooks";
import { lazyPart } from "../frame/lazy-part.ts";
import { Button } from "../parts/button.tsx";
import type { ExportSource } from "./export-source.ts";
import { useViewers } from "./viewer-ways.tsx";

const ExportDialog = lazyPart(() => import("./export-dialog.tsx").then((part) => part.ExportDialog));

/** Opens data in a viewer of other makers. There is no button where the operator named none. */
export function OpenButton({ source }: { source: ExportSource }) {
  const viewers = useViewers();
  const [isOpen, setOpen] = useState(false);
  const [first, ...others] = viewers;
  if (!first) return null;
  return (
    <>
      <Button text={others.length === 0 ? `Open in ${first.name}…` : "Open in…"} onClick={() => setOpen(true)} />
      {isOpen && <ExportDialog source={source} purpose="open" onClose={() => setOpen(false)} />}
    </>
  );
}
