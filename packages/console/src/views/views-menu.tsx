import { type SavedView, savedViews } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Menu, type MenuItem } from "../parts/menu.tsx";
import { TextField } from "../parts/text-field.tsx";
import { toast } from "../parts/toast.tsx";

const MOST_VIEWS = 200;

/** Leads to the views of the page that its user saved, saves the present one, and offers `others` below. */
export function ViewsMenu({ others = [] }: { others?: readonly MenuItem[] }) {
  const { path, route } = useLocation();
  const [isAsked, setAsked] = useState(false);
  const [open, setOpen] = useState<"save" | "manage" | undefined>();
  const { data = [], failure, again } = useQuery(savedViews.list, { limit: MOST_VIEWS }, { isEnabled: isAsked });
  const ours = data.filter((view) => view.path === path);
  const close = () => setOpen(undefined);
  const items = [
    ...ours.map(({ name, query }) => ({ text: name, onChoose: () => route(`${path}?${query}`) })),
    { text: "Save this view…", onChoose: () => setOpen("save") },
    ...(ours.length > 0 ? [{ text: "Delete views…", onChoose: () => setOpen("manage") }] : []),
    ...others,
  ];
  return (
    <>
      <Menu label="Views" class="plain" items={items} onOpen={() => setAsked(true)} />
      {failure && <Failed {...{ failure, again }} />}
      {open === "save" && <SaveView onClose={close} />}
      {open === "manage" && <ManageViews views={ours} onClose={close} />}
    </>
  );
}

function SaveView({ onClose }: { onClose: () => void }) {
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

function ManageViews({ views, onClose }: { views: readonly SavedView[]; onClose: () => void }) {
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
