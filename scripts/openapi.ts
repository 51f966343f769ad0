// Writes the interface as OpenAPI 3.1 to standard output: node scripts/openapi.ts
import { documentedApi, toOpenApi } from "@downlink/protocol";
import { PROGRAM_VERSION } from "../packages/cloud/src/core/program-version.ts";

const service = {
  title: "Downlink",
  version: PROGRAM_VERSION,
  description: "Recordings of robots",
  serverUrl: "http://127.0.0.1:8080",
};
process.stdout.write(`${JSON.stringify(toOpenApi(documentedApi, service), null, 2)}\n`);
