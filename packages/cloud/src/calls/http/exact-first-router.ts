import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";

/**
 * Finds routes with exactly the requested path before those with parameters: `/v1/recordings/summary` is not the recording of that key. One
 * regular expression for all routes is several times as fast as Hono's tree, but accepts no two routes that match one path; so the exact
 * ones have an expression of their own, together with everything that is for all paths.
 */
export class ExactFirstRouter<T> implements Router<T> {
  readonly name = "ExactFirstRouter";
  readonly #exact = new RegExpRouter<T>();
  readonly #others = new RegExpRouter<T>();
  readonly #exactRoutes = new Set<string>();

  add(method: string, path: string, handler: T): void {
    const isForMany = path.includes("*");
    const isExact = !isForMany && !path.includes(":");
    if (isExact) this.#exactRoutes.add(`${method} ${path}`);
    if (isExact || isForMany) this.#exact.add(method, path, handler);
    if (!isExact) this.#others.add(method, path, handler);
  }

  match(method: string, path: string): Result<T> {
    const router = this.#exactRoutes.has(`${method} ${path}`) ? this.#exact : this.#others;
    return router.match(method, path);
  }
}
