import { defineConfig } from "prisma/config";

// No datasource URL: the CLI only generates; migrations go through scripts/migrate.ts.
export default defineConfig({
  schema: "prisma/schema",
  migrations: { path: "prisma/migrations" },
});
