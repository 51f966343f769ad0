import { savedViews } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useQuery } from "../api/use-query.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { Failed } from "../parts/failed.tsx";
import { Menu, type MenuItem } from "../parts/menu.tsx";

const SaveView = lazyPart(() => import("./views-dialogs.tsx").then((part) => part.SaveView));
const ManageViews = lazyPart(() => import("./views-dialogs.tsx").then((part) => part.ManageViews));

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
