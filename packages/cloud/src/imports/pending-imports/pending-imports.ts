import type { api } from "@downlink/protocol";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { getPendingImport, listImportErrors, listPendingImports } from "./list-pending-imports.ts";
import { retryImport } from "./retry-import.ts";
import { salvageUpload } from "./salvage-upload.ts";

type Contract = typeof api.pendingImports;

export const pendingImports: Handlers<Contract> = {
  list: listPendingImports,
  get: getPendingImport,
  errors: listImportErrors,
  retry: retryImport,
  salvage: salvageUpload,
};
