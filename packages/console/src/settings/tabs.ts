import {
  apiKeys,
  audit,
  customProperties,
  deviceTokens,
  eventTypes,
  extensions,
  me,
  members,
  type Operation,
  projects,
  webhooks,
} from "@downlink/protocol";

export interface SettingsTab {
  /** Its segment below `/settings`. */
  readonly segment: string;
  readonly title: string;
  /** The operation that the tab cannot do without. */
  readonly needs: Operation;
}

/** The settings in the order in which they are listed. Settings that the user may not list are not shown. */
export const settingsTabs = [
  { segment: "keys", title: "API keys", needs: apiKeys.list },
  { segment: "tokens", title: "Device tokens", needs: deviceTokens.list },
  { segment: "members", title: "Members", needs: members.list },
  { segment: "projects", title: "Projects", needs: projects.list },
  { segment: "properties", title: "Properties", needs: customProperties.list },
  { segment: "event-types", title: "Event types", needs: eventTypes.list },
  { segment: "webhooks", title: "Webhooks", needs: webhooks.list },
  { segment: "extensions", title: "Extensions", needs: extensions.list },
  { segment: "audit", title: "Audit", needs: audit.list },
  { segment: "account", title: "My sessions", needs: me.listSessions },
  { segment: "appearance", title: "Appearance", needs: me.get },
] as const satisfies readonly SettingsTab[];

export type SettingsSegment = (typeof settingsTabs)[number]["segment"];
