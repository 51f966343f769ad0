import "./jitless.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { watchForNewVersion } from "./frame/new-version.ts";
import { followTheme } from "./frame/theme.ts";
import { listenToKeys } from "./parts/keys.ts";

followTheme();
listenToKeys();
watchForNewVersion();
render(<App />, document.getElementById("app")!);
