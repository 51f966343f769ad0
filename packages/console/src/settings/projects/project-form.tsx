import { me, type Project, projects } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { SelectField } from "../../parts/select.tsx";
import { TextField } from "../../parts/text-field.tsx";

interface FormProps {
  /** Absent for a new one. */
  readonly project?: Project;
  readonly onClose: () => void;
}

const THUMBNAILS = [
  ["own", "Only of recordings in the service's own store"],
  ["all", "Also of recordings in your buckets; the service keeps the pictures"],
  ["none", "No pictures"],
] as const;

/** Makes a project, or changes its name, whether it is invite-only and whether it has small pictures. */
export function ProjectForm({ project, onClose }: FormProps) {
  const [name, setName] = useState(project?.name ?? "");
  const [isInviteOnly, setInviteOnly] = useState(project?.isInviteOnly ?? false);
  const [thumbnails, setThumbnails] = useState(project?.thumbnails ?? "own");
  const create = useChange(projects.create, projects.list, me.get);
  const update = useChange(projects.update, projects.list, me.get);
  const { isRunning, failure } = project ? update : create;
  const save = async () => {
    const given = { name, isInviteOnly };
    const changed = project && { id: project.id, ...given, thumbnails };
    if (await (changed ? update.run(changed) : create.run(given))) onClose();
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title={project ? `Change ${project.name ?? project.id}` : "New project"}
      deed={project ? "Change the project" : "Make the project"}
      onSubmit={save}
    >
      <TextField
        label="Name"
        hint={project && "Links to the project go on working: they hold its id."}
        value={name}
        onChange={setName}
        maxLength={100}
        required
      />
      <label class="choice">
        <input type="checkbox" checked={isInviteOnly} onChange={() => setInviteOnly(!isInviteOnly)} />
        Invite-only: besides the admins, only chosen members see it
      </label>
      {project && (
        <SelectField
          label="Small pictures of what cameras saw"
          hint="Pictures that this leaves out are deleted; the recordings stay."
          value={thumbnails}
          choices={THUMBNAILS}
          onChange={setThumbnails}
        />
      )}
    </FormDialog>
  );
}
