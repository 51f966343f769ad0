import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorBoundary, useLocation } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { isSignedOut, signIns } from "../api/queries.ts";
import { followLink } from "../browser/follow-link.ts";
import { startLive } from "../live/live.ts";
import { Dialog } from "../parts/dialog.tsx";
import { activeShortcuts, areKeysOn, type Shortcut, turnKeys, useShortcuts } from "../parts/keys.ts";
import { Toast } from "../parts/toast.tsx";
import { pagePath, rememberedProject, rememberProject, useProjectId } from "../url/project.ts";
import { Banners } from "./banners.tsx";
import "./frame.css";
import { Brand, FrameFoot } from "./frame-foot.tsx";
import { lazyPart } from "./lazy-part.ts";
import { isPageOf, type MainPage, type Page, type SearchProps } from "./page.ts";

const SignInForm = lazyPart(() => import("./sign-in-form.tsx").then((part) => part.SignInForm));

interface FrameProps {
  readonly pages: readonly MainPage[];
  /** Pages that the frame does not list. */
  readonly others: readonly Page[];
  /** Stands above the pages. */
  readonly search: ComponentType<SearchProps>;
  /** Stands in a corner of all pages. */
  readonly tray: ComponentType;
  readonly children: ComponentChildren;
}

/** Surrounds every page with the pages of the project, the banners, and what needs attention at once. */
export function Frame({ pages, others, search, tray: Tray, children }: FrameProps) {
  const { data: me } = useMe();
  const named = useProjectId();
  const remembered = me?.projects.find(({ id }) => id === rememberedProject());
  const projectId = named ?? (remembered ?? me?.projects[0])?.id;
  const [showsKeys, setShowsKeys] = useState(false);
  useEffect(() => {
    if (named !== undefined && me?.projects.some(({ id }) => id === named)) rememberProject(named);
  }, [named, me]);
  const isSignedIn = me !== undefined && !isSignedOut.value;
  useEffect(() => (isSignedIn ? startLive() : undefined), [isSignedIn, signIns.value]);
  useTitle([...pages, ...others]);
  const isStranger = me === undefined && isSignedOut.value;
  useSignInPage(isStranger);
  useFrameKeys(pages, projectId, () => setShowsKeys(true));
  if (isStranger) return null;
  return (
    <div class="frame">
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <Brand />
      <MainNav {...{ pages, me, projectId, search, onKeys: () => setShowsKeys(true) }} />
      <FrameFoot {...{ me, projectId, onKeys: () => setShowsKeys(true) }} />
      <div class="frame-page">
        <Banners />
        <main id="page" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Tray />
      <Toast />
      {isSignedOut.value && <SignInDialog />}
      {showsKeys && <KeysDialog onClose={() => setShowsKeys(false)} />}
    </div>
  );
}

type NavProps = SearchProps & Pick<FrameProps, "search">;

/** Pages that the user may not see are not listed. Until the user is known, all are. */
function MainNav({ pages, me, projectId, onKeys, search: Search }: NavProps) {
  const { path } = useLocation();
  if (projectId === undefined) return <nav class="main-nav" aria-label="Pages" />;
  const shown = pages.filter(({ capability }) => me === undefined || may(me, capability));
  return (
    <nav class="main-nav" aria-label="Pages">
      <Search {...{ pages, me, projectId, onKeys }} />
      {shown.map(({ segment, title, icon }) => {
        const href = pagePath(projectId, segment);
        const isCurrent = path === href || path.startsWith(`${href}/`);
        return (
          <a key={segment} href={href} aria-current={isCurrent ? "page" : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d={icon} />
            </svg>
            {title}
          </a>
        );
      })}
    </nav>
  );
}

/** Leads a user without a session to the page that signs in, and from there back. */
function useSignInPage(isStranger: boolean): void {
  const { url, route } = useLocation();
  useEffect(() => {
    if (isStranger) route(url === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(url)}`, true);
  }, [isStranger]);
}

function useTitle(pages: readonly Page[]): void {
  const { path } = useLocation();
  useEffect(() => {
    const page = pages.find(({ path: pattern }) => isPageOf(pattern, path));
    document.title = page ? `${page.title} · Downlink` : "Downlink";
  }, [path]);
}

function useFrameKeys(pages: readonly MainPage[], projectId: string | undefined, showKeys: () => void): void {
  const toPages: Shortcut[] =
    projectId === undefined
      ? []
      : pages.map(({ key, title, segment }) => {
          return { keys: `g ${key}`, does: title, run: () => followLink(pagePath(projectId, segment)) };
        });
  useShortcuts([...toPages, { keys: "?", does: "This list", run: showKeys }]);
}

/** Lists the keys of the page that is open, and turns them off for those whom they disturb. */
function KeysDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areKeysOn());
  const turn = () => {
    turnKeys(!isOn);
    setOn(!isOn);
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {activeShortcuts().map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="row">
        <input type="checkbox" checked={isOn} onChange={turn} /> Use single-key shortcuts
      </label>
    </Dialog>
  );
}

/** Asks to sign in where the session ended while a page was open: the page stays below, with all that was typed. */
function SignInDialog() {
  return (
    <Dialog title="Sign in">
      <ErrorBoundary>
        <SignInForm />
      </ErrorBoundary>
    </Dialog>
  );
}
