import type { Failure } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import "./failed.css";
import { showHidden } from "./show-hidden.ts";

const TITLES: Readonly<Record<Failure["kind"], string>> = {
  away: "Not reachable",
  signedOut: "You are signed out",
  refused: "Not accepted",
  forbidden: "Not allowed",
  busy: "Too busy",
  conflict: "Not possible now",
  missing: "Not there",
  invalid: "Not valid",
  other: "Failed",
};

/** Says at the place of a failure what went wrong, which id to give to support, and how to try again. */
export function Failed({ failure, again }: { failure: Failure; again?: (() => void) | undefined }) {
  const { kind, text, code, requestId, details } = failure;
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{TITLES[kind]}.</strong> {showHidden(text)}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {showHidden(message)}
            </li>
          ))}
        </ul>
      )}
      <p class="row muted">
        {code && <code>{code}</code>}
        {requestId && <Copy text={requestId} label={`request ${requestId.slice(0, 8)}…`} />}
        {again && <Button text="Try again" class="small" onClick={again} />}
      </p>
    </div>
  );
}
