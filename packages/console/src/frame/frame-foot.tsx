import type { Me } from "@downlink/protocol";
import { useLocation } from "preact-iso";
import { explainFailure } from "../api/failure.ts";
import { may } from "../api/me.ts";
import { plainCall } from "../api/plain-call.ts";
import { forgetEverything, isSignedOut, noteFailure } from "../api/queries.ts";
import { followLink } from "../browser/follow-link.ts";
import { forgetUploads } from "../browser/upload-tray.ts";
import { Menu } from "../parts/menu.tsx";
import { namedChoices, Select } from "../parts/select.tsx";
import { toast } from "../parts/toast.tsx";
import { zoneName } from "../time/format-time.ts";
import { chooseZone, ZONES, zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import { chooseTheme, THEME_NAMES, THEMES, theme } from "./theme.ts";

interface FootProps {
  readonly me: Me | undefined;
  readonly projectId: string | undefined;
  readonly onKeys: () => void;
}

/** Leads to the start page from every other. */
export function Brand() {
  return (
    <header class="frame-head">
      <a class="brand" href="/" aria-label="Downlink, to the start page">
        <img src="/icon.svg" alt="" width="22" height="22" />
        <span>Downlink</span>
      </a>
    </header>
  );
}

/** Chooses the project, how pages look, and leads to what belongs to the user. It stands below the pages, or above them on narrow screens. */
export function FrameFoot({ me, projectId, onKeys }: FootProps) {
  return (
    <footer class="frame-foot">
      <ProjectChoice {...{ me, projectId }} />
      <span class="grow" />
      <Menu label="Appearance" class="small plain" items={appearance()}>
        <span aria-hidden="true">◐</span>
      </Menu>
      <Menu label={me ? `Account of ${nameOf(me)}` : "Account"} class="small plain" items={account(me, onKeys)}>
        <span class="cut who">{me ? nameOf(me) : "…"}</span>
      </Menu>
    </footer>
  );
}

function ProjectChoice({ me, projectId }: Pick<FootProps, "me" | "projectId">) {
  const { route, path } = useLocation();
  const segment = path.split("/")[3] ?? "";
  if (!me || me.projects.length === 0) return null;
  return (
    <Select
      class="project"
      aria-label="Project"
      value={projectId ?? ""}
      choices={namedChoices(me.projects)}
      onChange={(id) => route(pagePath(id, ...(segment ? [segment] : [])))}
    />
  );
}

function nameOf({ email, kind }: Me): string {
  return email ?? (kind === "apiKey" ? "API key" : "me");
}

function appearance() {
  const themes = THEMES.map((chosen) => {
    return {
      text: `${theme.value === chosen ? "● " : "○ "}${THEME_NAMES[chosen]}`,
      onChoose: () => chooseTheme(chosen),
    };
  });
  const zones = ZONES.map((chosen) => {
    const name = chosen === "UTC" ? "Times in UTC" : `Times in ${zoneName("browser")}`;
    return { text: `${zone.value === chosen ? "● " : "○ "}${name}`, onChoose: () => chooseZone(chosen) };
  });
  return [...themes, ...zones];
}

function account(me: Me | undefined, onKeys: () => void) {
  return [
    { text: "Settings", onChoose: () => followLink("/settings") },
    ...(may(me, "sites.list") ? [{ text: "Sites", onChoose: () => followLink("/sites") }] : []),
    { text: "Keyboard shortcuts (?)", onChoose: onKeys },
    { text: "Documentation", onChoose: () => location.assign("/guide/") },
    { text: "The interface for programs", onChoose: () => location.assign("/docs") },
    { text: "Sign out", onChoose: () => void signOut() },
  ];
}

/** A failure is shown: a user who takes the session for ended would leave it open to the next person at this machine. */
async function signOut(): Promise<void> {
  try {
    await plainCall("DELETE", "/v1/session");
  } catch (error) {
    noteFailure(error);
    toast(`You are still signed in. ${explainFailure(error).text}`);
    return;
  }
  forgetUploads();
  forgetEverything();
  isSignedOut.value = true;
}
