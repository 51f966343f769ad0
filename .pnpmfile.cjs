// @prisma/client asks for the prisma CLI and TypeScript as optional peers; a production tree needs neither (80 MB instead of 323).
function readPackage(pkg) {
  if (pkg.name === "@prisma/client") {
    pkg.peerDependencies = {};
    pkg.peerDependenciesMeta = {};
  }
  return pkg;
}

module.exports = { hooks: { readPackage } };
