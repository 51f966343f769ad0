import { type Me, sites } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { ProjectChoices } from "../parts/choices.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { TextField } from "../parts/text-field.tsx";
import { SITE_TYPES } from "./site-types.ts";

interface NewProps {
  readonly me: Me;
  readonly onMade: (id: string) => void;
  readonly onClose: () => void;
}

export function NewSite({ me, onMade, onClose }: NewProps) {
  const [name, setName] = useState("");
  const [type, setType] = useState<"edge" | "self-hosted">("edge");
  const [projectIds, setProjectIds] = useState<readonly string[]>([]);
  const { run, isRunning, failure } = useChange(sites.create, sites.list);
  const make = async () => {
    const made = await run({ name, type, projectIds: [...projectIds] });
    if (made) onMade(made.id);
  };
  return (
    <FormDialog {...{ isRunning, failure, onClose }} title="New site" deed="Make the site" onSubmit={make}>
      <TextField label="Name" value={name} onChange={setName} maxLength={100} required />
      <fieldset>
        <legend>Type</legend>
        {(["edge", "self-hosted"] as const).map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="type" checked={type === one} onChange={() => setType(one)} />
            <span>
              {SITE_TYPES[one].name}: <span class="muted">{SITE_TYPES[one].meaning}</span>
            </span>
          </label>
        ))}
        <p class="muted">A bucket of yours is set up at the command line of the service.</p>
      </fieldset>
      <ProjectChoices
        ofNone="None chosen: every project, also later ones."
        projects={me.projects}
        chosen={projectIds}
        onChange={setProjectIds}
      />
    </FormDialog>
  );
}
