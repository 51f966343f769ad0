import "./jitless.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import { render } from "preact";
import { askAgain } from "./api/queries.ts";
import { App } from "./app.tsx";
import { listenToLayers } from "./browser/layers.ts";
import { followTheme } from "./frame/theme.ts";
import { listenToKeys } from "./parts/keys.ts";

followTheme();
listenToKeys();
listenToLayers();
addEventListener("online", askAgain);
render(<App />, document.getElementById("app")!);
