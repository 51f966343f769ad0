import { type Project, projectMembers, projects } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useQuery } from "../../api/use-query.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { formatMany } from "../../parts/bytes.ts";
import { Empty } from "../../parts/empty.tsx";
import { Failed } from "../../parts/failed.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { ProgressLine } from "../../parts/progress-line.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Age } from "../../parts/time.tsx";
import { pagePath } from "../../url/project.ts";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { ProjectForm } from "./project-form.tsx";
import { ProjectPeople } from "./project-people.tsx";

type Deed = { readonly is: "make" } | { readonly is: "edit" | "people"; readonly project: Project } | undefined;

/** Lists the projects with their names, and who sees them. */
export function ProjectsTab() {
  const { data: me } = useMe();
  const { data, failure, isLoading, again } = useQuery(projects.list, {}, { isEnabled: mayCall(me, projects.list) });
  const [deed, setDeed] = useState<Deed>();
  const items = (project: Project): RowActions => [
    mayCall(me, projects.update) && { text: "Change…", onChoose: () => setDeed({ is: "edit", project }) },
    mayCall(me, projectMembers.put) &&
      project.isInviteOnly && { text: "Who sees it…", onChoose: () => setDeed({ is: "people", project }) },
  ];
  const action = mayCall(me, projects.create) && (
    <Button text="New project" class="primary" onClick={() => setDeed({ is: "make" })} />
  );
  return (
    <SettingsFrame segment="projects" action={action}>
      <ProgressLine isOn={isLoading} />
      {failure && <Failed {...{ failure, again }} />}
      {data?.length === 0 && <Empty title="There is no project that you may see." />}
      {data && data.length > 0 && (
        <Table label="Projects" columns={columnsOf(items)} count={data.length} rowAt={(index) => data[index]} />
      )}
      {deed?.is === "make" && <ProjectForm onClose={() => setDeed(undefined)} />}
      {deed?.is === "edit" && <ProjectForm project={deed.project} onClose={() => setDeed(undefined)} />}
      {deed?.is === "people" && <ProjectPeople project={deed.project} onClose={() => setDeed(undefined)} />}
    </SettingsFrame>
  );
}

function columnsOf(items: (project: Project) => RowActions): readonly Column<Project>[] {
  return [
    {
      name: "Name",
      width: "minmax(140px, 2fr)",
      narrow: "title",
      cell: ({ id, name }) => (
        <a href={pagePath(id, "recordings")}>
          <ForeignText text={name ?? id} />
        </a>
      ),
    },
    {
      name: "Seen by",
      width: "minmax(140px, 1fr)",
      narrow: "sub",
      cell: ({ isInviteOnly, orgMemberCount = 0 }) => (
        <>
          {isInviteOnly && <Badge sign="◪" tone="warn" text="invite-only" />} {formatMany(orgMemberCount, "member")}
        </>
      ),
    },
    {
      name: "Last upload",
      width: "130px",
      narrow: "sub-end",
      cell: ({ lastSeenAt }) => (lastSeenAt === undefined ? "never" : <Age timeNs={lastSeenAt} />),
    },
    actionsColumn<Project>({ nameOf: ({ id, name }) => name ?? id, items }),
  ];
}
