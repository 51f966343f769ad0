import { type SavedView, savedViews } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { TextField } from "../parts/text-field.tsx";
import { toast } from "../parts/toast.tsx";

/** Asks for a name, and saves the address of the page under it. */
export function SaveView({ onClose }: { onClose: () => void }) {
  const { path, url } = useLocation();
  const [name, setName] = useState("");
  const { run, isRunning, failure } = useChange(savedViews.create, savedViews.list);
  const save = async () => {
    if (!(await run({ name: name.trim(), path, query: url.split("?")[1] ?? "" }))) return;
    toast(`The view ${name.trim()} was saved.`);
    onClose();
  };
  return (
    <FormDialog
      title="Save this view"
      deed="Save"
      {...{ isRunning, failure, onClose, onSubmit: save }}
      isDisabled={name.trim() === ""}
    >
      <p>The view keeps what the address of the page says: filters, the range of time and the order.</p>
      <TextField label="Name" value={name} onChange={setName} maxLength={200} autoComplete="off" />
    </FormDialog>
  );
}

/** Lists the views of the page that its user saved, each to be deleted. */
export function ManageViews({ views, onClose }: { views: readonly SavedView[]; onClose: () => void }) {
  const { run, failure } = useChange(savedViews.delete, savedViews.list);
  return (
    <Dialog title="Views of this page" onClose={onClose}>
      {failure && <Failed failure={failure} />}
      <ul class="stack">
        {views.map(({ id, name }) => (
          <li key={id} class="row">
            <span class="grow">{name}</span>
            <Button text="Delete" class="small danger" aria-label={`Delete ${name}`} onClick={() => void run({ id })} />
          </li>
        ))}
      </ul>
      {views.length === 0 && <p class="muted">No view of this page is left.</p>}
    </Dialog>
  );
}
