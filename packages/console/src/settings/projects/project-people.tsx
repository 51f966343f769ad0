import { members, type Project, projectMembers, projects } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { useQuery } from "../../api/use-query.ts";
import { Choices } from "../../parts/choices.tsx";
import { Failed } from "../../parts/failed.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { ProgressLine } from "../../parts/progress-line.tsx";

interface PeopleProps {
  readonly project: Project;
  readonly onClose: () => void;
}

/** Chooses the members that see an invite-only project besides the admins. */
export function ProjectPeople({ project: { id, name }, onClose }: PeopleProps) {
  const everybody = useQuery(members.list, {});
  const chosen = useQuery(projectMembers.get, { id });
  const [changed, setChanged] = useState<readonly string[] | undefined>();
  const memberIds = changed ?? chosen.data?.memberIds ?? [];
  const { run, isRunning, failure } = useChange(projectMembers.put, projectMembers.get, projects.list);
  const save = async () => {
    if (await run({ id, memberIds: [...memberIds] })) onClose();
  };
  const others = everybody.data?.filter(({ role }) => role !== "admin") ?? [];
  const asked = everybody.failure ?? chosen.failure;
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title={`Who sees ${name ?? id}`}
      deed="Save"
      onSubmit={save}
      isDisabled={chosen.data === undefined}
    >
      <ProgressLine isOn={everybody.isLoading || chosen.isLoading} />
      {asked && <Failed failure={asked} again={everybody.failure ? everybody.again : chosen.again} />}
      <Choices
        legend="Besides the admins"
        choices={others.map(({ id: one, email }) => [one, email])}
        chosen={memberIds}
        onChange={setChanged}
      />
      <p class="muted">A member who is removed no longer sees the project, and links that they made to its data end.</p>
    </FormDialog>
  );
}
