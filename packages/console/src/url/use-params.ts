import { useLocation } from "preact-iso";
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

/** Holds the state of a page in its address, so that a link to it can be sent. */
export function useParams<P extends Record<string, Param<unknown>>>(params: P): UrlParams<P> {
  const { path, query, route } = useLocation();
  const { values, problems } = readParams(params, query);
  const hrefWith = (changed: Partial<Values<P>>) => path + writeParams(params, { ...values, ...changed });
  return { values, problems, hrefWith, set: (changed, { isStep = false } = {}) => route(hrefWith(changed), !isStep) };
}
