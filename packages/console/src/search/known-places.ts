import { type Capability, episodes, sites } from "@downlink/protocol";
import { may, mayCall } from "../api/me.ts";
import type { SearchProps } from "../frame/page.ts";
import { chooseTheme, THEMES, type Theme } from "../frame/theme.ts";
import { settingsTabs } from "../settings/tabs.ts";
import { zoneName } from "../time/format-time.ts";
import { chooseZone, ZONES } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import type { Found } from "./found.ts";

/** Returns the pages that the user may see. */
export function findPages({ pages, me, projectId }: Pick<SearchProps, "pages" | "me" | "projectId">): readonly Found[] {
  const ofProject = pages
    .filter(({ capability }) => may(me, capability))
    .map(({ segment, title }) => ({ segment, title }));
  const all = [...ofProject, ...(mayCall(me, episodes.list) ? [{ segment: "episodes", title: "Episodes" }] : [])];
  const settings = settingsTabs.filter(({ needs }) => mayCall(me, needs));
  return [
    ...(projectId === undefined ? [] : all).map(({ segment, title }) => {
      return { id: `page-${segment}`, text: title, href: pagePath(projectId!, segment) };
    }),
    ...(mayCall(me, sites.list) ? [{ id: "page-sites", text: "Sites", href: "/sites" }] : []),
    ...settings.map(({ segment, title }) => {
      return { id: `settings-${segment}`, text: title, detail: "Settings", href: `/settings/${segment}` };
    }),
  ];
}

interface Deed {
  readonly text: string;
  readonly page: string;
  readonly needs: readonly Capability[];
}

const DEEDS: readonly Deed[] = [
  { text: "Add a device", page: "devices", needs: ["devices.create", "deviceTokens.create"] },
  { text: "New dataset", page: "datasets", needs: ["datasets.create"] },
  { text: "New event", page: "events", needs: ["events.create"] },
];

const THEME_DEEDS: Readonly<Record<Theme, string>> = {
  system: "Theme as the system has it",
  light: "Light theme",
  dark: "Dark theme",
};

/** Returns what the user may do from any page. A page opens its dialog where `add=1` stands in its address. */
export function findActions({ me, projectId, onKeys }: Omit<SearchProps, "pages">): readonly Found[] {
  const deeds = projectId === undefined ? [] : DEEDS.filter(({ needs }) => needs.every((one) => may(me, one)));
  return [
    ...deeds.map(({ text, page }) => ({ id: `add-${page}`, text, href: `${pagePath(projectId!, page)}?add=1` })),
    ...THEMES.map((one) => ({ id: `theme-${one}`, text: THEME_DEEDS[one], run: () => chooseTheme(one) })),
    ...ZONES.map((one) => {
      return { id: `zone-${one}`, text: `Show times in ${zoneOf(one)}`, detail: "Zone", run: () => chooseZone(one) };
    }),
    { id: "keys", text: "Keyboard shortcuts", detail: "Help", run: onKeys },
  ];
}

function zoneOf(zone: (typeof ZONES)[number]): string {
  return zone === "UTC" ? "UTC" : `the zone of this browser, ${zoneName("browser")}`;
}
