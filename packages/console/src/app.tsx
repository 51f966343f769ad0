import { useEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { useMe } from "./api/me.ts";
import { reportCrash } from "./frame/crash.tsx";
import { Frame } from "./frame/frame.tsx";
import { lazyPart } from "./frame/lazy-part.ts";
import { Empty } from "./parts/empty.tsx";
import { Failed } from "./parts/failed.tsx";
import { mainPages, otherPages } from "./routes.ts";
import { SearchButton } from "./search/search-button.tsx";
import { UploadSlot } from "./uploads/upload-slot.tsx";
import { pagePath, rememberedProject } from "./url/project.ts";

/** The other pages of the service, and files, are no pages of ours: the browser opens them by itself. */
const OURS = /^\/(?!docs|guide|v1|data-plane|download|install\.sh|endpoints|metrics|livez|readyz|assets)/;

const SignInPage = lazyPart(() => import("./sign-in/sign-in-page.tsx").then((page) => page.SignInPage));

export function App() {
  return (
    <LocationProvider scope={OURS}>
      <Pages />
    </LocationProvider>
  );
}

/** The pages of the sign-in have no frame, because no user is signed in. */
function Pages() {
  const { path } = useLocation();
  if (path === "/sign-in" || path.startsWith("/sign-in/"))
    return (
      <ErrorBoundary onError={reportCrash}>
        <Router>
          <Route path="/sign-in" component={SignInPage} />
          <Route path="/sign-in/:step" component={SignInPage} />
        </Router>
      </ErrorBoundary>
    );
  return (
    <Frame pages={mainPages} others={otherPages} search={SearchButton} tray={UploadSlot}>
      <ErrorBoundary onError={reportCrash}>
        <Router>
          <Route path="/" component={FirstPage} />
          {[...mainPages, ...otherPages].map(({ path: where, component }) => (
            <Route key={where} path={where} component={component} />
          ))}
          <Route default component={NotThere} />
        </Router>
      </ErrorBoundary>
    </Frame>
  );
}

/** Leads from the bare address to a page of the project that was looked at last, or else of the first. */
function FirstPage() {
  const { route } = useLocation();
  const { data: me, failure, again } = useMe();
  const remembered = rememberedProject();
  const project = me?.projects.find(({ id }) => id === remembered) ?? me?.projects[0];
  useEffect(() => {
    if (project) route(pagePath(project.id, mainPages[0]!.segment), true);
  }, [project?.id]);
  if (failure && failure.kind !== "signedOut") return <Failed {...{ failure, again }} />;
  if (me && !project) return <Empty title="There is no project that you may see." />;
  return null;
}

function NotThere() {
  return (
    <Empty title="There is no such page.">
      <p>
        The address may belong to another version. <a href="/">To the start page</a>
      </p>
    </Empty>
  );
}
