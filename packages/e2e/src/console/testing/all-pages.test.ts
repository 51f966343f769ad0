import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allPages } from "./all-pages.ts";

const ROUTES = join(import.meta.dirname, "../../../../console/src/routes.ts");
/** The first leads to another page; `bench:console` opens the others besides. */
const LEFT_OUT = ["/settings", "/settings/projects", "/settings/account"];

test("every page of the console that needs no id is among those that are looked at and measured", () => {
  const routes = readFileSync(ROUTES, "utf8").matchAll(/path: (inProject\()?"([^"]+)"/g);
  const paths = Array.from(routes, ([, isInProject, path]) => (isInProject ? `/p/prj_1/${path}` : path!));
  const needNoId = paths.filter((path) => !path.includes(":") && !LEFT_OUT.includes(path));
  assert.deepEqual(
    allPages("prj_1")
      .map(([, path]) => path.replace(/\?.*/, ""))
      .sort(),
    needNoId.sort(),
  );
});
