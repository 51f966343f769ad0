// Checks that the rules of .dependency-cruiser.cjs hold, that they were applied to every source file, and that each of them catches a
// violation.
import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { findCircles, type Module } from "./find-circles.ts";
import { findOpenedDoors, type House, readHouse } from "./find-doors.ts";

interface Report {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly resolved: string }[];
  }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

const ROOT = resolve(import.meta.dirname, "..");
const CONFIG = join(ROOT, ".dependency-cruiser.cjs");
const CLOUD = "packages/cloud/src";
const DOORS = "packages/cloud/doors.txt";

/** For each rule, imports that it must refuse: from → to. */
const PLANTED: Record<string, Record<string, string>> = {
  "packages-protocol": { "packages/protocol/src/a.ts": "packages/recordings/src/a.ts" },
  "packages-protocol-tests": { "packages/protocol/src/a.test.ts": "packages/client/src/a.ts" },
  "packages-recordings": { "packages/recordings/src/b.ts": "packages/protocol/src/b.ts" },
  "packages-recordings-tests": { "packages/recordings/src/testing/a.ts": "packages/protocol/src/b.ts" },
  "packages-terminal": { "packages/terminal/src/a.ts": "packages/protocol/src/a.ts" },
  "packages-terminal-tests": { "packages/terminal/src/a.test.ts": "packages/protocol/src/a.ts" },
  "packages-messages": { "packages/messages/src/a.ts": "packages/recordings/src/a.ts" },
  "packages-messages-tests": { "packages/messages/src/a.test.ts": "packages/protocol/src/a.ts" },
  "packages-pictures": { "packages/pictures/src/a.ts": "packages/protocol/src/a.ts" },
  "packages-pictures-tests": { "packages/pictures/src/a.test.ts": "packages/protocol/src/a.ts" },
  "packages-training": { "packages/training/src/a.ts": "packages/recordings/src/a.ts" },
  "packages-training-tests": { "packages/training/src/a.test.ts": "packages/recordings/src/a.ts" },
  "packages-tracing": { "packages/tracing/src/a.ts": "packages/protocol/src/a.ts" },
  "packages-tracing-tests": { "packages/tracing/src/a.test.ts": "packages/protocol/src/a.ts" },
  "packages-client": { "packages/client/src/b.ts": "packages/recordings/src/c.ts" },
  "packages-client-tests": { "packages/client/src/b.test.ts": "packages/cloud/src/app.ts" },
  "packages-cli": { "packages/cli/src/a.ts": "packages/recordings/src/a.ts" },
  "packages-cli-tests": { "packages/cli/src/a.test.ts": `${CLOUD}/config.ts` },
  "packages-agent": { "packages/agent/src/a.ts": `${CLOUD}/config.ts` },
  "packages-agent-tests": { "packages/agent/src/a.test.ts": `${CLOUD}/config.ts` },
  "packages-cloud": { [`${CLOUD}/a.ts`]: "packages/client/src/c.ts" },
  "packages-cloud-tests": { [`${CLOUD}/a.test.ts`]: "packages/agent/src/b.ts" },
  "packages-console": { "packages/console/src/a.ts": `${CLOUD}/config.ts` },
  "packages-console-tests": { "packages/console/src/a.test.ts": `${CLOUD}/config.ts` },
  "console-is-a-page": { "packages/console/src/api/a.ts": "node:fs" },
  "console-calls-in-one-place": { "packages/console/src/parts/a.ts": "packages/client/src/c.ts" },
  "console-pages-apart": { "packages/console/src/recordings/a.tsx": "packages/console/src/devices/a.tsx" },
  "console-parts-name-no-page": { "packages/console/src/parts/b.tsx": "packages/console/src/devices/a.tsx" },
  "protocol-is-plain": { "packages/protocol/src/c.ts": "node:fs", "packages/protocol/src/d.ts": "hono" },
  "recordings-know-no-network-and-no-database": {
    "packages/recordings/src/d.ts": "node:http",
    "packages/recordings/src/e.ts": "pg",
  },
  "no-import-of-tests": { "packages/agent/src/c.ts": "packages/agent/src/testing/a.ts" },
  "no-unresolved-import": { "packages/agent/src/f.ts": "./missing.ts" },
  "cloud-one-prisma": { [`${CLOUD}/fleet/devices/c.ts`]: "@prisma/adapter-pg" },
  "cloud-one-object-storage": { [`${CLOUD}/fleet/devices/d.ts`]: "@aws-sdk/client-s3" },
  "cloud-hono-stays-outside": { [`${CLOUD}/fleet/devices/e.ts`]: "hono" },
};

/** Circles that must be found: siblings, parent and child, the root, files, each through a type alone. */
const PLANTED_CIRCLES: readonly Record<string, string>[] = [
  { "packages/x/src/a/one.ts": "packages/x/src/b/two.ts", "packages/x/src/b/three.ts": "packages/x/src/a/four.ts" },
  { "packages/x/src/a/one.ts": "packages/x/src/a/c/two.ts", "packages/x/src/a/c/two.ts": "packages/x/src/a/four.ts" },
  { "packages/x/src/main.ts": "packages/x/src/a/one.ts", "packages/x/src/a/one.ts": "packages/x/src/config.ts" },
  { "packages/x/src/a/one.ts": "packages/x/src/config.ts" },
  { "packages/x/src/a/one.ts": "packages/x/src/a/two.ts", "packages/x/src/a/two.ts": "packages/x/src/a/one.ts" },
];

/** The upper room stands above the lower one; one of its doors is unused, which is a violation too. */
const PLANTED_HOUSE: House = {
  rooms: ["upper", "lower"],
  doors: ["upper/used.ts", "lower/door.ts", "lower/unused.ts"],
};

/** Imports in the planted house, and whether each is a violation. */
const PLANTED_CROSSINGS: readonly (readonly [from: string, to: string, isRefused: boolean])[] = [
  ["main.ts", "upper/used.ts", false],
  ["upper/one.ts", "upper/two.ts", false],
  ["upper/one.ts", "lower/door.ts", false],
  ["upper/one.ts", "lower/inner.ts", true],
  ["lower/one.ts", "upper/used.ts", true],
];

const problems = (await Promise.all([checkSources(), checkPlanted(), checkCircles(), checkDoors()])).flat();
console.log(
  problems.length === 0
    ? `${Object.keys(PLANTED).length} import rules and those of circles and doors hold, and each catches a violation`
    : problems.join("\n"),
);
process.exitCode = problems.length === 0 ? 0 : 1;

async function checkSources(): Promise<string[]> {
  const report = await cruise(ROOT, ["packages", "scripts"]);
  const cruised = new Set(report.modules.map((module) => module.source));
  const expected = globSync(["packages/*/src/**/*.{ts,tsx}", "scripts/**/*.ts"], { cwd: ROOT });
  const blind = expected.filter((path) => !cruised.has(path)).map((path) => `${path} was not looked at`);
  return [
    ...blind,
    ...report.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} imports ${to}`),
    ...findCircles(modulesOf(report)),
    ...findOpenedDoors(modulesOf(report), readHouse(readText("packages/cloud/README.md"), readText(DOORS))).map(
      (violation) => `${violation} (${DOORS})`,
    ),
  ];
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

function modulesOf({ modules }: Report): Module[] {
  return modules.map(({ source, dependencies }) => {
    return { source, imports: dependencies.map(({ resolved }) => resolved) };
  });
}

/** Plants imports of types, which the compiler removes, each circle in a checkout of its own. */
async function checkCircles(): Promise<string[]> {
  const missed = await Promise.all(
    PLANTED_CIRCLES.map(async (planted) => {
      const folder = mkdtempSync(join(tmpdir(), "import-circle-"));
      try {
        plantAll(folder, Object.entries(planted), "import type {} from ");
        return findCircles(modulesOf(await cruise(folder, ["packages"]))).length > 0 ? [] : [JSON.stringify(planted)];
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
  );
  return missed.flat().map((planted) => `a circle was planted and not found: ${planted}`);
}

function checkDoors(): string[] {
  const path = (inRoom: string) => `${CLOUD}/${inRoom}`;
  const modules = PLANTED_CROSSINGS.map(([from, to]) => ({ source: path(from), imports: [path(to)] }));
  const expected = [
    ...PLANTED_CROSSINGS.filter(([, , isRefused]) => isRefused).map(([from, to]) => `${from} imports ${to}`),
    "no other room imports lower/unused.ts",
  ];
  const found = findOpenedDoors(modules, PLANTED_HOUSE);
  const missed = expected.filter((start) => !found.some((violation) => violation.startsWith(start)));
  return [
    ...missed.map((start) => `${start}: it was planted and not found`),
    ...(found.length > expected.length ? [`doors are refused for no reason: ${found.join("; ")}`] : []),
  ];
}

async function checkPlanted(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "import-rules-"));
  try {
    const imports = Object.values(PLANTED).flatMap((planted) => Object.entries(planted));
    plantAll(folder, imports, "import ");
    const { summary } = await cruise(folder, ["packages"]);
    const caught = new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
    const planted = Object.entries(PLANTED).flatMap(([rule, imports]) =>
      Object.keys(imports).map((from) => `${rule}: ${from}`),
    );
    const unplanted = listRules().filter((name) => PLANTED[name] === undefined);
    return [
      ...planted.filter((name) => !caught.has(name)).map((name) => `${name} was planted and not caught`),
      ...unplanted.map((name) => `${name} has no planted violation`),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function listRules(): string[] {
  const config: { forbidden: { name: string }[] } = createRequire(import.meta.url)(CONFIG);
  return config.forbidden.map((rule) => rule.name);
}

function plantAll(folder: string, imports: readonly [string, string][], verb: string): void {
  cpSync(join(ROOT, "tsconfig.base.json"), join(folder, "tsconfig.base.json"));
  writeFileSync(join(folder, "package.json"), "{}");
  for (const [, to] of imports) write(folder, pathOf(to), "export {};\n");
  for (const [from, to] of imports)
    write(folder, from, `${verb}"${to.startsWith("packages/") ? toRelative(from, to) : to}";\n`);
}

/**
 * Returns where the imported file must be for the import to resolve; an import that must not resolve, and one of Node itself, needs no
 * file.
 */
function pathOf(to: string): string | undefined {
  if (to.startsWith("packages/")) return to;
  return /^(node:|\.)/.test(to) ? undefined : `node_modules/${to}/index.js`;
}

function toRelative(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

function write(folder: string, path: string | undefined, text: string): void {
  if (path === undefined) return;
  mkdirSync(join(folder, dirname(path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** dependency-cruiser exits with the number of violations, so only its report counts. */
function cruise(cwd: string, folders: string[]): Promise<Report> {
  const program = join(ROOT, "node_modules", "dependency-cruiser", "bin", "dependency-cruiser.mjs");
  const args = [program, ...folders, "--config", CONFIG, "--output-type", "json"];
  return new Promise((done, fail) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 1024 ** 3 }, (error, stdout, stderr) => {
      if (stdout === "") fail(new Error(stderr || error?.message));
      else done(JSON.parse(stdout));
    });
  });
}
