// @prisma/client asks for the prisma CLI and TypeScript as optional peers; a production tree needs neither (80 MB instead of 323).
// openapi-typescript builds its types with the compiler API of TypeScript 5, and its peer would be this workspace's TypeScript 7.
// prisma-kysely wants the prisma CLI as its peer, and @prisma/internals what reads the CLI's own configuration; scripts/generate-client.ts needs
// neither, and the CLI would bring a database browser, a second Postgres and React (190 MB).
function readPackage(pkg) {
  if (pkg.name === "prisma-kysely") pkg.peerDependencies = {};
  if (pkg.name === "@prisma/internals") {
    delete pkg.dependencies["@prisma/config"];
    pkg.peerDependencies = {};
    pkg.peerDependenciesMeta = {};
  }
  if (pkg.name === "@prisma/client" || pkg.name === "openapi-typescript") {
    pkg.peerDependencies = {};
    pkg.peerDependenciesMeta = {};
  }
  if (pkg.name === "openapi-typescript") pkg.dependencies.typescript = "5.9.3";
  return pkg;
}

module.exports = { hooks: { readPackage } };
