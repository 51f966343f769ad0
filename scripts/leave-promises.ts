// Loaded into each process of tests, before `node:test`. The runner of Node follows every promise, to know to which test belongs what is made
// or thrown later. That costs twenty times as much as the promises themselves. Here it learns the same from `AsyncLocalStorage`, whose
// values V8 passes on.

import { AsyncLocalStorage, AsyncResource, type createHook, type HookCallbacks } from "node:async_hooks";
import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";

interface Exports {
  createHook(callbacks: HookCallbacks & { readonly trackPromises?: boolean }): ReturnType<typeof createHook>;
  executionAsyncId(): number;
}

/** The runner takes both functions from the exports of this built-in module; those of an import cannot be replaced. */
const hooks = createRequire(import.meta.url)("node:async_hooks") as Exports;
const { createHook: createWith, executionAsyncId } = hooks;
/** Holds the id of the innermost test, which is an asynchronous resource to Node. */
const innermost = new AsyncLocalStorage<number>();

/** The runner calls this once, and nothing else in these tests has hooks. A thread has no runner. */
function followTests({ init, ...callbacks }: HookCallbacks): ReturnType<typeof createHook> {
  return createWith({
    ...callbacks,
    trackPromises: false,
    init(id, type, ...[triggerId, resource]) {
      if (type === "Test") remember(id, resource as AsyncResource);
      init?.(id, type, innermost.getStore() ?? triggerId, resource);
    },
  });
}

/** Makes what a test runs, and all that comes of it, know the test. */
function remember(id: number, test: AsyncResource): void {
  test.runInAsyncScope = (act, self, ...args) =>
    AsyncResource.prototype.runInAsyncScope.call(test, () =>
      innermost.run(id, () => Reflect.apply(act, self, args)),
    ) as ReturnType<typeof act>;
}

if (isMainThread) {
  hooks.createHook = followTests;
  hooks.executionAsyncId = () => innermost.getStore() ?? executionAsyncId();
}
