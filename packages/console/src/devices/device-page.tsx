import { type Device, devices, type Me } from "@downlink/protocol";
import { useRoute } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { pagePath, useProjectId } from "../url/project.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import "./devices.css";
import { FilesTab } from "./files-tab.tsx";
import { healthSentence } from "./health.ts";
import { HistoryTab } from "./history-tab.tsx";
import { deviceParams } from "./list-params.ts";
import { OverviewTab } from "./overview-tab.tsx";
import { StandingBadge } from "./standing-badge.tsx";

const SettingsTab = lazyPart(() => import("./settings-tab.tsx").then((part) => part.SettingsTab));
const TokensTab = lazyPart(() => import("./tokens-tab.tsx").then((part) => part.TokensTab));

const POLL_MS = 10_000;

/** Shows one device: its state, its files, its settings, and its tokens. */
export function DevicePage() {
  const projectId = useProjectId()!;
  const name = useRoute().params.name ?? "";
  const params = useParams(deviceParams);
  const query = useQuery(devices.get, { nameOrId: name, projectId }, { pollMs: POLL_MS });
  const { data: device, failure, again, isLoading } = query;
  return (
    <div class="device-page">
      <p>
        <a href={pagePath(projectId, "devices")}>Devices</a>
      </p>
      <ProgressLine isOn={isLoading && !device} />
      <UrlProblems problems={params.problems} />
      {failure && failure.kind !== "missing" && <Failed failure={failure} again={again} />}
      {failure?.kind === "missing" && (
        <Empty title={`There is no device “${name}” in this project.`}>
          <p>It may have another name by now, or be in another project.</p>
        </Empty>
      )}
      {device && !query.isOld && failure?.kind !== "missing" && <Shown {...{ device, params, projectId }} />}
    </div>
  );
}

interface ShownProps {
  readonly device: Device;
  readonly params: UrlParams<typeof deviceParams>;
  readonly projectId: string;
}

function Shown({ device, params, projectId }: ShownProps) {
  const { data: me } = useMe();
  return (
    <>
      <header class="row">
        <h1>
          <ForeignText text={device.name} />
        </h1>
        <p class="health">
          <StandingBadge device={device} text={healthSentence(device, Date.now())} />
        </p>
        <span class="grow" />
        <a class="button small" href={`${pagePath(projectId, "imports")}?device=${encodeURIComponent(device.name)}`}>
          Imports
        </a>
      </header>
      <DeviceTabs {...{ params, me }} />
      <TabContent {...{ device, params, projectId }} />
    </>
  );
}

function DeviceTabs({ params: { values, hrefWith }, me }: Pick<ShownProps, "params"> & { me: Me | undefined }) {
  const tabs = [
    { name: "Overview", tab: "overview", capability: "devices.list" },
    { name: "Recordings", tab: "files", capability: "recordings.list" },
    { name: "Settings", tab: "settings", capability: "devices.list" },
    { name: "Tokens", tab: "tokens", capability: "deviceTokens.list" },
    { name: "Property history", tab: "history", capability: "devices.list" },
  ] as const;
  return (
    <Tabs
      label="Device"
      tabs={tabs
        .filter(({ capability }) => may(me, capability))
        .map(({ name, tab }) => ({ name, href: hrefWith({ tab }), isCurrent: tab === values.tab }))}
    />
  );
}

function TabContent({ device, params, projectId }: ShownProps) {
  const { tab } = params.values;
  if (tab === "files") return <FilesTab {...{ device, projectId }} />;
  if (tab === "settings") return <SettingsTab key={device.id} {...{ device, projectId }} />;
  if (tab === "tokens") return <TokensTab device={device} />;
  if (tab === "history") return <HistoryTab {...{ device, projectId }} />;
  return <OverviewTab {...{ device, projectId }} />;
}
