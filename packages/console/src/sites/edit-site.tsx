import { type Me, me as meContract, type Site, sites } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { ProjectChoices } from "../parts/choices.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { TextField } from "../parts/text-field.tsx";

const DAY_SECONDS = 86_400;

interface EditProps {
  readonly site: Site;
  readonly me: Me;
  readonly onClose: () => void;
}

/** Changes what can be changed of a site of its type, and sends only that. */
export function EditSite({ site, me, onClose }: EditProps) {
  const [name, setName] = useState(site.name);
  const [url, setUrl] = useState(site.url ?? "");
  const [projectIds, setProjectIds] = useState<readonly string[]>(site.projectIds);
  const [keepDays, setKeepDays] = useState(String((site.retainRecordingsSeconds ?? 0) / DAY_SECONDS));
  const { run, isRunning, failure } = useChange(sites.update, sites.get, sites.list, meContract.get);
  const save = async () => {
    const given = {
      id: site.id,
      name,
      ...(site.type !== "service-hosted" && { projectIds: [...projectIds] }),
      ...(site.type === "self-hosted" && { url: url === "" ? null : url }),
      ...(site.type === "edge" && { retainRecordingsSeconds: Number(keepDays) * DAY_SECONDS }),
    };
    if (await run(given)) onClose();
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title={`Change ${site.name}`}
      deed="Change the site"
      onSubmit={save}
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={100} required />
      <OfType {...{ site, url, setUrl, keepDays, setKeepDays }} />
      {site.type !== "service-hosted" && (
        <ProjectChoices
          ofNone="None chosen: every project, also later ones."
          projects={me.projects}
          chosen={projectIds}
          onChange={setProjectIds}
        />
      )}
    </FormDialog>
  );
}

interface OfTypeProps {
  readonly site: Site;
  readonly url: string;
  readonly setUrl: (url: string) => void;
  readonly keepDays: string;
  readonly setKeepDays: (days: string) => void;
}

/** Edits the fields that only sites of one type have. */
function OfType({ site: { type }, url, setUrl, keepDays, setKeepDays }: OfTypeProps) {
  if (type === "self-hosted")
    return (
      <TextField
        label="Address"
        hint="Where people and robots reach it. Empty: the address that the site itself reports."
        type="url"
        value={url}
        onChange={setUrl}
      />
    );
  if (type !== "edge") return null;
  return (
    <TextField
      label="Keeps imported files for so many days"
      hint="0 keeps them for ever."
      type="number"
      min="0"
      step="any"
      value={keepDays}
      onChange={setKeepDays}
      required
    />
  );
}
