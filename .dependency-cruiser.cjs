// Who may import whom. scripts/check-imports.ts runs these rules, and plants a violation of each to see that it is caught.

/** Tests, and what is written for them, may reach further. */
const FOR_TESTS = String.raw`\.(slow|suite|test)\.ts$|/testing(/|\.ts$)`;
const CLOUD = "^packages/cloud/src/";
/** What resources stand on. None of it names a resource. */
const FOUNDATION = "(core|db|blobs|search|jobs|metrics|tokens|http|data-plane|indexing)/";

/** A package may import itself and the named ones. */
function between(name, { allowed = [], forTests = allowed }) {
  const rule = (suffix, from, names) => ({
    name: `packages-${name}${suffix}`,
    severity: "error",
    from: { path: `^packages/${name}/`, ...from },
    to: { path: "^packages/", pathNot: `^packages/(${[name, ...names].join("|")})/` },
  });
  return [
    rule("", { pathNot: FOR_TESTS }, allowed),
    rule("-tests", { path: `^packages/${name}/.*(${FOR_TESTS})` }, forTests),
  ];
}

module.exports = {
  forbidden: [
    ...between("protocol", {}),
    ...between("recordings", {}),
    ...between("client", { allowed: ["protocol"] }),
    ...between("agent", { allowed: ["protocol", "client", "recordings"] }),
    ...between("cloud", { allowed: ["protocol", "recordings"], forTests: ["protocol", "recordings", "client"] }),
    ...between("console", { allowed: ["protocol", "client"] }),
    {
      name: "protocol-is-plain",
      comment: "The contract runs in a browser: zod, and nothing of Node.",
      severity: "error",
      from: { path: "^packages/protocol/src/", pathNot: FOR_TESTS },
      to: { pathNot: ["^packages/protocol/", "node_modules/zod/"] },
    },
    {
      name: "recordings-know-no-network-and-no-database",
      severity: "error",
      from: { path: "^packages/recordings/src/", pathNot: FOR_TESTS },
      to: { path: ["^(node:)?(net|tls|http|http2|https|dns|dgram|sqlite)$", "node_modules/(undici|pg|hono|@prisma)/"] },
    },
    {
      name: "no-import-of-tests",
      severity: "error",
      from: { path: "^packages/", pathNot: [FOR_TESTS, "^packages/e2e/"] },
      to: { path: FOR_TESTS, pathNot: "node_modules" },
    },
    {
      name: "no-cycle",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-unresolved-import",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "cloud-no-arrow-back",
      comment: "main → deps, app → resources → foundation",
      severity: "error",
      from: { path: `${CLOUD}[^/]+/`, pathNot: FOR_TESTS },
      to: { path: `${CLOUD}(main|app|deps|server|worker)\\.ts$` },
    },
    {
      name: "cloud-foundation-names-no-resource",
      severity: "error",
      from: { path: `${CLOUD}${FOUNDATION}`, pathNot: FOR_TESTS },
      to: { path: `${CLOUD}[^/]+/`, pathNot: `${CLOUD}${FOUNDATION}` },
    },
    {
      name: "cloud-storage-knows-no-http",
      severity: "error",
      from: { path: `${CLOUD}(db|blobs|search|jobs)/`, pathNot: FOR_TESTS },
      to: { path: `${CLOUD}(http|data-plane)/`, pathNot: `${CLOUD}http/errors\\.ts$` },
    },
    {
      name: "cloud-resources-meet-in-few-places",
      comment: "Finders, rows, pure modules, and the named steps that several resources take in one transaction.",
      severity: "error",
      from: { path: `${CLOUD}([^/]+)/`, pathNot: [FOR_TESTS, `${CLOUD}${FOUNDATION}`] },
      to: {
        path: `${CLOUD}[^/]+/`,
        pathNot: [
          `${CLOUD}$1/`,
          `${CLOUD}${FOUNDATION}`,
          `${CLOUD}[^/]+/(find-[^/]+|[^/]+-rows|[^/]+-state|[^/]+-status|outbox)\\.ts$`,
          `${CLOUD}custom-properties/property-values\\.ts$`,
          `${CLOUD}devices/create-device\\.ts$`,
          `${CLOUD}edge/(announce-work|remove-files|work-signals)\\.ts$`,
          `${CLOUD}event-types/require-conformance\\.ts$`,
          `${CLOUD}ingest/(change-request|delivery)\\.ts$`,
          `${CLOUD}projects/scope-sql\\.ts$`,
          `${CLOUD}quotas/require-room\\.ts$`,
          `${CLOUD}recordings/(edge-copy|forget-data|lock-recording|recording-events|select-recordings)\\.ts$`,
          `${CLOUD}sessions/create-session\\.ts$`,
          `${CLOUD}setup/organization\\.ts$`,
          `${CLOUD}sites/primary-site\\.ts$`,
        ],
      },
    },
    {
      name: "cloud-one-prisma",
      comment: "Only db/client.ts constructs Prisma, which cannot be done without its adapter.",
      severity: "error",
      from: { path: CLOUD, pathNot: [FOR_TESTS, `${CLOUD}db/(client\\.ts$|generated/)`] },
      to: { path: "node_modules/@prisma/" },
    },
    {
      name: "cloud-one-object-storage",
      severity: "error",
      from: { path: CLOUD, pathNot: [FOR_TESTS, `${CLOUD}blobs/`] },
      to: { path: "@aws-sdk/" },
    },
    {
      name: "cloud-hono-stays-outside",
      comment: "Verbs take (ctx, input); Hono's types end at the binding and at the raw routes.",
      severity: "error",
      from: {
        path: CLOUD,
        pathNot: [FOR_TESTS, `${CLOUD}(http|data-plane)/`, `${CLOUD}(app|server)\\.ts$`, "-route\\.ts$"],
      },
      to: { path: "node_modules/(@hono|hono)/" },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules"] },
    exclude: { path: ["/dist/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
    skipAnalysisNotInRules: true,
  },
};
