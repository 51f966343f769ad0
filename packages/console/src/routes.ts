import type { AnyComponent } from "preact";
import { lazyPart } from "./frame/lazy-part.ts";
import type { MainPage, Page } from "./frame/page.ts";

const inProject = (rest: string) => `/p/:projectId/${rest}`;

const pagesOfProject: readonly Omit<MainPage, "path">[] = [
  {
    segment: "coverage",
    title: "Coverage",
    key: "c",
    icon: "M3 5h10v4H3zM16 5h5v4h-5zM3 11h5v4H3zM10 11h11v4H10zM3 17h14v4H3z",
    capability: "data.coverage.list",
    component: lazyPart(() => import("./coverage/coverage-page.tsx").then((part) => part.CoveragePage)),
  },
  {
    segment: "recordings",
    title: "Recordings",
    key: "r",
    icon: "M4 5h16v4H4zM4 11h16v4H4zM4 17h10v3H4z",
    capability: "recordings.list",
    component: lazyPart(() => import("./recordings/recordings-page.tsx").then((part) => part.RecordingsPage)),
  },
  {
    segment: "imports",
    title: "Imports",
    key: "i",
    icon: "M11 3h2v8h4l-5 6-5-6h4zM4 19h16v2H4z",
    capability: "data.imports.pending.list",
    component: lazyPart(() => import("./imports/imports-page.tsx").then((part) => part.ImportsPage)),
  },
  {
    segment: "devices",
    title: "Devices",
    key: "d",
    icon: "M5 8h14v9H5zM8 3h2v5H8zM14 3h2v5h-2zM7 17h3v4H7zM14 17h3v4h-3z",
    capability: "devices.list",
    component: lazyPart(() => import("./devices/devices-page.tsx").then((part) => part.DevicesPage)),
  },
  {
    segment: "events",
    title: "Events",
    key: "e",
    icon: "M5 3h2v18H5zM9 4h10l-3 4 3 4H9z",
    capability: "events.list",
    component: lazyPart(() => import("./events/events-page.tsx").then((part) => part.EventsPage)),
  },
  {
    segment: "datasets",
    title: "Datasets",
    key: "s",
    icon: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
    capability: "datasets.list",
    component: lazyPart(() => import("./datasets/datasets-page.tsx").then((part) => part.DatasetsPage)),
  },
];

/** The pages of a project in the order in which the frame lists them; the first is the one that the bare address leads to. */
export const mainPages: readonly MainPage[] = pagesOfProject.map((page) => ({
  ...page,
  path: inProject(page.segment),
}));

/** Pages that others lead to. */
export const otherPages: readonly Page[] = [
  page(inProject("devices/:name"), "Device", () => import("./devices/device-page.tsx").then((part) => part.DevicePage)),
  page(inProject("recordings/:id"), "Recording", () =>
    import("./recordings/recording-page.tsx").then((part) => part.RecordingPage),
  ),
  page(inProject("events/:id"), "Event", () => import("./events/event-page.tsx").then((part) => part.EventPage)),
  page(inProject("datasets/:id"), "Dataset", () =>
    import("./datasets/dataset-page.tsx").then((part) => part.DatasetPage),
  ),
  page(inProject("datasets/:id/training"), "Training data", () =>
    import("./training/training-page.tsx").then((part) => part.TrainingPage),
  ),
  page(inProject("episodes"), "Episodes", () =>
    import("./episodes/episodes-page.tsx").then((part) => part.EpisodesPage),
  ),
  page(inProject("episodes/:id"), "Episode", () =>
    import("./episodes/episode-page.tsx").then((part) => part.EpisodePage),
  ),
  page("/settings", "Settings", () => import("./settings/settings-start.tsx").then((part) => part.SettingsStart)),
  page("/settings/keys", "API keys", () => import("./settings/keys/keys-tab.tsx").then((part) => part.KeysTab)),
  page("/settings/tokens", "Device tokens", () =>
    import("./settings/tokens/tokens-tab.tsx").then((part) => part.TokensTab),
  ),
  page("/settings/members", "Members", () =>
    import("./settings/members/members-tab.tsx").then((part) => part.MembersTab),
  ),
  page("/settings/projects", "Projects", () =>
    import("./settings/projects/projects-tab.tsx").then((part) => part.ProjectsTab),
  ),
  page("/settings/properties", "Properties", () =>
    import("./settings/properties/properties-tab.tsx").then((part) => part.PropertiesTab),
  ),
  page("/settings/event-types", "Event types", () =>
    import("./settings/event-types/event-types-tab.tsx").then((part) => part.EventTypesTab),
  ),
  page("/settings/webhooks", "Webhooks", () =>
    import("./settings/webhooks/webhooks-tab.tsx").then((part) => part.WebhooksTab),
  ),
  page("/settings/webhooks/:id", "Webhook", () =>
    import("./settings/webhooks/webhook-page.tsx").then((part) => part.WebhookPage),
  ),
  page("/settings/extensions", "Extensions", () =>
    import("./settings/extensions/extensions-tab.tsx").then((part) => part.ExtensionsTab),
  ),
  page("/settings/audit", "Audit", () => import("./settings/audit/audit-tab.tsx").then((part) => part.AuditTab)),
  page("/settings/account", "My sessions", () =>
    import("./settings/account/account-tab.tsx").then((part) => part.AccountTab),
  ),
  page("/settings/appearance", "Appearance", () =>
    import("./settings/appearance/appearance-tab.tsx").then((part) => part.AppearanceTab),
  ),
  page("/sites", "Sites", () => import("./sites/sites-page.tsx").then((part) => part.SitesPage)),
  page("/sites/:id", "Site", () => import("./sites/site-page.tsx").then((part) => part.SitePage)),
];

function page(path: string, title: string, load: () => Promise<AnyComponent>): Page {
  return { path, title, component: lazyPart(load) };
}
