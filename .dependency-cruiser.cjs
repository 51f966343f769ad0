// Which package may import which, and what libraries belong where. scripts/check-imports.ts runs these rules, and plants a violation of each to see
// that it is caught. Of folders and files there is one rule, which scripts/find-circles.ts holds: no circle, and nobody imports the root.

/** Tests, and what is written for them, may reach further. */
const FOR_TESTS = String.raw`\.(slow|suite|test)\.ts$|/testing(/|\.ts$)`;
const CLOUD = "^packages/cloud/src/";

const CONSOLE = "^packages/console/src/";
const PAGES = "coverage|recordings|sessions|imports|devices|events|datasets|training|episodes|sites|settings|sign-in";

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
    ...between("terminal", {}),
    ...between("messages", { forTests: ["recordings"] }),
    ...between("pictures", { allowed: ["messages"] }),
    ...between("training", { allowed: ["protocol", "messages", "pictures"] }),
    ...between("tracing", {}),
    ...between("client", { allowed: ["protocol"] }),
    ...between("cli", {
      allowed: ["protocol", "client", "messages", "terminal"],
      forTests: ["protocol", "client", "messages", "terminal", "training"],
    }),
    ...between("agent", { allowed: ["protocol", "client", "recordings", "terminal", "tracing"] }),
    ...between("cloud", {
      allowed: ["protocol", "recordings", "messages", "pictures", "training", "tracing"],
      forTests: ["protocol", "recordings", "messages", "pictures", "training", "tracing", "client"],
    }),
    ...between("console", {
      allowed: ["protocol", "client", "messages"],
      forTests: ["protocol", "client", "messages", "recordings"],
    }),
    {
      name: "console-is-a-page",
      comment: "It runs in a browser.",
      severity: "error",
      from: { path: CONSOLE, pathNot: FOR_TESTS },
      to: { path: "^(node:|(assert|buffer|fs|http|https|net|os|path|stream|url|util)$)" },
    },
    {
      name: "console-calls-in-one-place",
      comment: "Only api/ knows the client: it decides what happens when a call fails.",
      severity: "error",
      from: { path: CONSOLE, pathNot: [FOR_TESTS, `${CONSOLE}api/`] },
      to: { path: "^packages/client/" },
    },
    {
      name: "console-pages-apart",
      comment: "A page leads to another one by its address, so that each is loaded when it is opened.",
      severity: "error",
      from: { path: `${CONSOLE}(${PAGES})/`, pathNot: FOR_TESTS },
      to: { path: `${CONSOLE}(${PAGES})/`, pathNot: `${CONSOLE}$1/` },
    },
    {
      name: "console-parts-name-no-page",
      severity: "error",
      from: {
        path: `${CONSOLE}(api|url|time|parts|timeline|preview|export|cuts|views|curate|fleet|uploads)/`,
        pathNot: FOR_TESTS,
      },
      to: { path: `${CONSOLE}(${PAGES})/` },
    },
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
      name: "no-unresolved-import",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
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
      from: { path: CLOUD, pathNot: [FOR_TESTS, `${CLOUD}store/blobs/`] },
      to: { path: "@aws-sdk/|@azure/" },
    },
    {
      name: "cloud-hono-stays-outside",
      comment: "Verbs take (ctx, input); Hono's types end at the binding and at the raw routes.",
      severity: "error",
      from: {
        path: CLOUD,
        pathNot: [FOR_TESTS, `${CLOUD}calls/(http|data-plane)/`, `${CLOUD}(app|server)\\.ts$`, "-route\\.ts$"],
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
