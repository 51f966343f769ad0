import { api } from "@downlink/protocol";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { findings } from "./findings.ts";
import { hello } from "./hello.ts";
import { inbox } from "./inbox.ts";
import { lakeFiles } from "./lake-reports.ts";
import { report } from "./report.ts";
import { selection } from "./selection.ts";
import { work } from "./work.ts";

/** The operations that the process of a self-hosted site calls. */
const handlers: Handlers<typeof api.site> = { hello, inbox, work, report, selection, findings, lakeFiles };

export const siteWork = { contract: api.site, handlers };
