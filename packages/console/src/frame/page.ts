import type { Capability, Me } from "@downlink/protocol";
import type { AnyComponent } from "preact";

/** A page: its address, its name, and what draws it. */
export interface Page {
  readonly path: string;
  readonly title: string;
  readonly component: AnyComponent;
}

/** A page of a project that stands in the frame's list of pages. */
export interface MainPage extends Page {
  /** Its segment below the project. */
  readonly segment: string;
  /** The key after `g` that leads to it. */
  readonly key: string;
  /** The path of its icon, in a square of 24. */
  readonly icon: string;
  /** The capability that a user needs to see anything there. */
  readonly capability: Capability;
}

/** The frame's state that the search needs: it stands in the frame, and opens what the user may see. */
export interface SearchProps {
  readonly pages: readonly MainPage[];
  readonly me: Me | undefined;
  /** The project in which is searched. */
  readonly projectId: string | undefined;
  /** Shows the list of keys. */
  readonly onKeys: () => void;
}

/** Returns whether an address is one of a page, whose path names segments that may be anything: `/sites/:id`. */
export function isPageOf(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith(":") || part === given[at]);
}
