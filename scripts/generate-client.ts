// Generates the database client of prisma/schema, as `prisma generate` does, of which this calls the parts: the prisma CLI would bring 190 MB
// more, for commands that nothing here uses.
import { createRequire } from "node:module";
import { resolve } from "node:path";

/** These packages have no entry for ES modules that can be loaded. */
const require = createRequire(import.meta.url);
const { getGenerators, loadSchemaContext } = require("@prisma/internals") as typeof import("@prisma/internals");
const { PrismaClientTsGenerator } =
  require("@prisma/client-generator-ts") as typeof import("@prisma/client-generator-ts");

const schemaPath = { configProvidedPath: resolve(import.meta.dirname, "..", "prisma", "schema") };
const generators = await getGenerators({
  schemaContext: await loadSchemaContext({ schemaPath, printLoadMessage: false }),
  registry: { "prisma-client": { type: "in-process", generator: new PrismaClientTsGenerator() } },
  skipDownload: true,
  cliCommand: "prisma generate",
});
for (const generator of generators) {
  await generator.generate();
  generator.stop();
}
