import type { api } from "@downlink/protocol";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { deleteImport, deleteImports } from "./delete-imports.ts";
import { listImports } from "./list-imports.ts";

type Contract = typeof api.imports;

/** The deprecated view of imported recordings. spec: Imports */
export const imports: Handlers<Contract> = { list: listImports, deleteMany: deleteImports, delete: deleteImport };
