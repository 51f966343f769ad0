import { useLocation, useRoute } from "preact-iso";
import { type Param, readParams, type Values, writeParams } from "./params.ts";

export interface UrlParams<P> {
  readonly values: Values<P>;
  /** The parts of the address that mean nothing. */
  readonly problems: readonly string[];
  /** Changes some of them in place, so that Back leaves the page. With `isStep` it comes back to what was before. */
  set(changed: Partial<Values<P>>, options?: { readonly isStep?: boolean }): void;
  /** The address of this page with some of them changed. */
  hrefWith(changed: Partial<Values<P>>): string;
}

/**
 * Holds the state of a page in its address, so that a link to it can be sent. A page stays until the next one is loaded: meanwhile it keeps
 * what its own address said, and changes nothing in the address of the other.
 */
export function useParams<P extends Record<string, Param<unknown>>>(params: P): UrlParams<P> {
  const { path, query } = useRoute();
  const { path: shownPath, route } = useLocation();
  const { values, problems } = readParams(params, query);
  const hrefWith = (changed: Partial<Values<P>>) => path + writeParams(params, { ...values, ...changed });
  const set: UrlParams<P>["set"] = (changed, { isStep = false } = {}) => {
    if (path === shownPath) route(hrefWith(changed), !isStep);
  };
  return { values, problems, hrefWith, set };
}
