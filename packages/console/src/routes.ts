import { lazy } from "preact-iso";
import type { MainPage, Page } from "./frame/page.ts";

const inProject = (rest: string) => `/p/:projectId/${rest}`;

/** The pages of a project in the order in which the frame lists them; the first is the one that the bare address leads to. */
export const mainPages: readonly MainPage[] = [
  {
    segment: "coverage",
    path: inProject("coverage"),
    title: "Coverage",
    key: "c",
    icon: "M3 5h10v4H3zM16 5h5v4h-5zM3 11h5v4H3zM10 11h11v4H10zM3 17h14v4H3z",
    capability: "data.coverage.list",
    component: lazy(() => import("./coverage/coverage-page.tsx").then((page) => page.CoveragePage)),
  },
  {
    segment: "recordings",
    path: inProject("recordings"),
    title: "Recordings",
    key: "r",
    icon: "M4 5h16v4H4zM4 11h16v4H4zM4 17h10v3H4z",
    capability: "recordings.list",
    component: lazy(() => import("./recordings/recordings-page.tsx").then((page) => page.RecordingsPage)),
  },
  {
    segment: "imports",
    path: inProject("imports"),
    title: "Imports",
    key: "i",
    icon: "M11 3h2v8h4l-5 6-5-6h4zM4 19h16v2H4z",
    capability: "data.imports.pending.list",
    component: lazy(() => import("./imports/imports-page.tsx").then((page) => page.ImportsPage)),
  },
  {
    segment: "devices",
    path: inProject("devices"),
    title: "Devices",
    key: "d",
    icon: "M5 8h14v9H5zM8 3h2v5H8zM14 3h2v5h-2zM7 17h3v4H7zM14 17h3v4h-3z",
    capability: "devices.list",
    component: lazy(() => import("./devices/devices-page.tsx").then((page) => page.DevicesPage)),
  },
  {
    segment: "events",
    path: inProject("events"),
    title: "Events",
    key: "e",
    icon: "M5 3h2v18H5zM9 4h10l-3 4 3 4H9z",
    capability: "events.list",
    component: lazy(() => import("./events/events-page.tsx").then((page) => page.EventsPage)),
  },
  {
    segment: "datasets",
    path: inProject("datasets"),
    title: "Datasets",
    key: "s",
    icon: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
    capability: "datasets.list",
    component: lazy(() => import("./datasets/datasets-page.tsx").then((page) => page.DatasetsPage)),
  },
];

/** Pages that others lead to. */
export const otherPages: readonly Page[] = [
  {
    path: inProject("devices/:name"),
    title: "Device",
    component: lazy(() => import("./devices/device-page.tsx").then((page) => page.DevicePage)),
  },
  {
    path: inProject("recordings/:id"),
    title: "Recording",
    capability: "recordings.list",
    component: lazy(() => import("./recordings/recording-page.tsx").then((page) => page.RecordingPage)),
  },
  {
    path: inProject("events/:id"),
    title: "Event",
    component: lazy(() => import("./events/event-page.tsx").then((page) => page.EventPage)),
  },
  {
    path: inProject("datasets/:id"),
    title: "Dataset",
    component: lazy(() => import("./datasets/dataset-page.tsx").then((page) => page.DatasetPage)),
  },
  {
    path: inProject("episodes"),
    title: "Episodes",
    component: lazy(() => import("./episodes/episodes-page.tsx").then((page) => page.EpisodesPage)),
  },
  {
    path: inProject("episodes/:id"),
    title: "Episode",
    component: lazy(() => import("./episodes/episode-page.tsx").then((page) => page.EpisodePage)),
  },
  {
    path: "/settings",
    title: "Settings",
    component: lazy(() => import("./settings/settings-start.tsx").then((page) => page.SettingsStart)),
  },
  {
    path: "/settings/keys",
    title: "API keys",
    component: lazy(() => import("./settings/keys/keys-tab.tsx").then((page) => page.KeysTab)),
  },
  {
    path: "/settings/tokens",
    title: "Device tokens",
    component: lazy(() => import("./settings/tokens/tokens-tab.tsx").then((page) => page.TokensTab)),
  },
  {
    path: "/settings/members",
    title: "Members",
    component: lazy(() => import("./settings/members/members-tab.tsx").then((page) => page.MembersTab)),
  },
  {
    path: "/settings/projects",
    title: "Projects",
    component: lazy(() => import("./settings/projects/projects-tab.tsx").then((page) => page.ProjectsTab)),
  },
  {
    path: "/settings/properties",
    title: "Properties",
    component: lazy(() => import("./settings/properties/properties-tab.tsx").then((page) => page.PropertiesTab)),
  },
  {
    path: "/settings/event-types",
    title: "Event types",
    component: lazy(() => import("./settings/event-types/event-types-tab.tsx").then((page) => page.EventTypesTab)),
  },
  {
    path: "/settings/webhooks",
    title: "Webhooks",
    component: lazy(() => import("./settings/webhooks/webhooks-tab.tsx").then((page) => page.WebhooksTab)),
  },
  {
    path: "/settings/webhooks/:id",
    title: "Webhook",
    component: lazy(() => import("./settings/webhooks/webhook-page.tsx").then((page) => page.WebhookPage)),
  },
  {
    path: "/settings/extensions",
    title: "Extensions",
    component: lazy(() => import("./settings/extensions/extensions-tab.tsx").then((page) => page.ExtensionsTab)),
  },
  {
    path: "/settings/audit",
    title: "Audit",
    component: lazy(() => import("./settings/audit/audit-tab.tsx").then((page) => page.AuditTab)),
  },
  {
    path: "/settings/account",
    title: "My sessions",
    component: lazy(() => import("./settings/account/account-tab.tsx").then((page) => page.AccountTab)),
  },
  {
    path: "/settings/appearance",
    title: "Appearance",
    component: lazy(() => import("./settings/appearance/appearance-tab.tsx").then((page) => page.AppearanceTab)),
  },
  {
    path: "/sites",
    title: "Sites",
    component: lazy(() => import("./sites/sites-page.tsx").then((page) => page.SitesPage)),
  },
  {
    path: "/sites/:id",
    title: "Site",
    component: lazy(() => import("./sites/site-page.tsx").then((page) => page.SitePage)),
  },
];
