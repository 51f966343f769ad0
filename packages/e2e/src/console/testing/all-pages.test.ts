import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allPages } from "./all-pages.ts";

const ROUTES = join(import.meta.dirname, "../../../../console/src/routes.ts");
/** The first leads to another page; `bench:console` opens the others besides. */
const LEFT_OUT = ["/settings", "/settings/projects", "/settings/account"];

test("every page of the console that needs no id is among those that are looked at and measured", () => {
  const text = readFileSync(ROUTES, "utf8");
  const main = Array.from(text.matchAll(/segment: "([^"]+)"/g), ([, segment]) => `/p/prj_1/${segment}`);
  const others = Array.from(text.matchAll(/page\(\s*(inProject\()?"([^"]+)"/g), ([, isInProject, path]) =>
    isInProject ? `/p/prj_1/${path}` : path!,
  );
  const paths = [...main, ...others];
  const needNoId = paths.filter((path) => !path.includes(":") && !LEFT_OUT.includes(path));
  assert.deepEqual(
    allPages("prj_1")
      .map(([, path]) => path.replace(/\?.*/, ""))
      .sort(),
    needNoId.sort(),
  );
});
