import { test } from "node:test";
import { holdGlobs, holdSeveralGlobs } from "../testing/hold-globs.ts";

test("thousands of random globs mean the same as with picomatch", () => holdGlobs(4000));

test("a thousand lists of random globs mean any of them, as with picomatch", () => holdSeveralGlobs(1000));
