import type { api } from "@downlink/protocol";
import type { Handlers } from "../http/serve.ts";
import { listImportErrors, listPendingImports } from "./list-pending-imports.ts";
import { retryImport } from "./retry-import.ts";

type Contract = typeof api.pendingImports;

export const pendingImports: Handlers<Contract> = {
  list: listPendingImports,
  errors: listImportErrors,
  retry: retryImport,
};
