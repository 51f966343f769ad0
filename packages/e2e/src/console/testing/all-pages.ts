const PAGES: Readonly<Record<string, string>> = {
  coverage: "/coverage?from=2025-01-01&to=2026-01-05",
  recordings: "/recordings",
  imports: "/imports",
  devices: "/devices",
  events: "/events",
  datasets: "/datasets",
  episodes: "/episodes",
};
const SETTINGS = [
  "keys",
  "tokens",
  "members",
  "properties",
  "event-types",
  "webhooks",
  "extensions",
  "audit",
  "appearance",
];

/** Every page that needs no id but that of its project, each as its name and its path. */
export function allPages(projectId: string): (readonly [string, string])[] {
  return [
    ...Object.entries(PAGES).map(([name, path]) => [name, `/p/${projectId}${path}`] as const),
    ...SETTINGS.map((name) => [`settings-${name}`, `/settings/${name}`] as const),
    ["sites", "/sites"],
  ];
}
