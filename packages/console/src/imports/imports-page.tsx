import { Button } from "../parts/button.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { useProjectId } from "../url/project.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import { DoneTab } from "./done-tab.tsx";
import { FailedTab } from "./failed-tab.tsx";
import { reasonTitle } from "./failure-advice.ts";
import "./imports.css";
import { ProcessingTab } from "./processing-tab.tsx";
import { countText, failedText, type Imports, importsParams, useImports } from "./queries.ts";
import { QueueTab } from "./queue-tab.tsx";
import { UnreadableTab } from "./unreadable-tab.tsx";

/** Shows where every import is, and why it is not here yet. */
export function ImportsPage() {
  const projectId = useProjectId()!;
  const params = useParams(importsParams);
  const { tab, device } = params.values;
  const imports = useImports(projectId, { tab, device });
  const isLoading = tab !== "done" && imports[tab].isLoading;
  return (
    <div class="imports-page">
      <header class="row">
        <h1>Imports</h1>
        <span class="grow" />
        <search class="row">
          <TypedFilter
            isSearch
            label="Device"
            value={device}
            onChange={(name) => params.set({ device: name.trim(), reason: "" })}
          />
          {params.values.reason && (
            <Button
              text={`✕ ${reasonTitle(params.values.reason)}`}
              title={params.values.reason}
              class="small"
              onClick={() => params.set({ reason: "" })}
            />
          )}
        </search>
      </header>
      <UrlProblems problems={params.problems} />
      <ImportTabs {...{ params, imports }} />
      <ProgressLine isOn={isLoading} />
      <Shown {...{ params, imports, projectId }} />
    </div>
  );
}

interface PartProps {
  readonly params: UrlParams<typeof importsParams>;
  readonly imports: Imports;
}

function ImportTabs({ params: { values, hrefWith }, imports }: PartProps) {
  const tabs = [
    { name: "Queue", tab: "queue", count: countText(imports.queue) },
    { name: "Processing", tab: "processing", count: countText(imports.processing) },
    { name: "Failed", tab: "failed", count: failedText(imports) },
    { name: "Cannot be imported", tab: "unreadable", count: countText(imports.unreadable) },
    { name: "Done", tab: "done", count: undefined },
  ] as const;
  return (
    <Tabs
      label="Imports"
      tabs={tabs.map(({ name, tab, count }) => {
        return { name, count, href: hrefWith({ tab, reason: "" }), isCurrent: tab === values.tab };
      })}
    />
  );
}

function Shown({ params, imports, projectId }: PartProps & { projectId: string }) {
  const { tab, device, reason } = params.values;
  const onReason = (code: string) => params.set({ reason: code });
  if (tab === "queue") return <QueueTab {...{ queue: imports.queue, projectId, reason, onReason }} />;
  if (tab === "processing") return <ProcessingTab {...{ processing: imports.processing, projectId }} />;
  if (tab === "failed") return <FailedTab {...{ imports, projectId, reason }} />;
  if (tab === "unreadable") return <UnreadableTab {...{ files: imports.unreadable, projectId, reason }} />;
  return <DoneTab {...{ projectId, device }} />;
}
