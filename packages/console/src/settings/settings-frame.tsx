import type { Me } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { mayCall, useMe } from "../api/me.ts";
import { Empty } from "../parts/empty.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time, ZoneName } from "../parts/time.tsx";
import "./settings.css";
import { type SettingsSegment, settingsTabs } from "./tabs.ts";

interface FrameProps {
  readonly segment: SettingsSegment;
  /** An element beside the title, such as the button that makes another one. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Surrounds each of the settings. */
export function SettingsFrame({ segment, action, children }: FrameProps) {
  const { data: me } = useMe();
  const allowed = settingsTabs.filter(({ needs }) => me === undefined || mayCall(me, needs));
  const tab = settingsTabs.find((one) => one.segment === segment)!;
  return (
    <div class="settings">
      <header class="row">
        <h1>{tab.title}</h1>
        {me && <span class="muted cut">{me.orgDisplayName}</span>}
        <span class="grow" />
        {action}
      </header>
      <Tabs
        label="Settings"
        tabs={allowed.map(({ segment: one, title: name }) => {
          return { name, href: `/settings/${one}`, isCurrent: one === segment };
        })}
      />
      {me?.backups && <BackupNote {...me.backups} />}
      {me === undefined || mayCall(me, tab.needs) ? children : <NotAllowed needs={tab.needs} />}
    </div>
  );
}

/** Says to an admin that there is no backup, or that the last one is old. */
function BackupNote({ lastAt, isOverdue }: NonNullable<Me["backups"]>) {
  if (lastAt === undefined) return <p class="muted">No backup of this control plane was ever made.</p>;
  if (!isOverdue) return null;
  return (
    <p class="banner" role="status">
      <span>
        No backup of this control plane since <Time timeNs={lastAt} /> <ZoneName />. Tell its operator.
      </span>
    </p>
  );
}

function NotAllowed({ needs: { access } }: { needs: (typeof settingsTabs)[number]["needs"] }) {
  return (
    <Empty title="You may not see this.">
      <p>
        {access.kind === "apiKey" && (
          <>
            It needs <code>{access.capability}</code>, for all projects. An admin of the organization has it.
          </>
        )}
      </p>
    </Empty>
  );
}
