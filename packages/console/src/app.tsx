import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { reportCrash } from "./frame/crash.tsx";
import { Frame } from "./frame/frame.tsx";
import { Home } from "./frame/home.tsx";
import { lazyPart } from "./frame/lazy-part.ts";
import { NotThere } from "./frame/not-there.tsx";
import { mainPages, otherPages } from "./routes.ts";

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
    <Frame pages={mainPages} others={otherPages}>
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

function FirstPage() {
  return <Home segment={mainPages[0]!.segment} />;
}
