import { ApiCallError, NetworkError, parseFailure, parseJson, type TransportResponse } from "@downlink/client";

export interface Organization {
  readonly id: string;
  readonly name: string;
}

/** The user is a member of several organizations, and has to choose one to sign in. */
export class SeveralOrganizations extends ApiCallError {
  readonly organizations: readonly Organization[];

  constructor(facts: ConstructorParameters<typeof ApiCallError>[0], organizations: readonly Organization[]) {
    super(facts);
    this.organizations = organizations;
  }
}

/** Calls a route that is no operation of the contract, such as those that begin and end sessions. A file is sent as its bytes. */
export async function plainCall(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": mediaTypeOf(body) }) },
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
    });
  } catch (error) {
    throw new NetworkError("the control plane cannot be reached", error);
  }
  const received = { status: answer.status, headers: new Map(answer.headers), body: await answer.text() };
  if (!answer.ok) throw toFailure(received);
  const parsed = received.body === "" ? undefined : parseJson(received.body);
  if (received.body !== "" && parsed === undefined) throw parseFailure(received); // a page that is not the service's
  return parsed;
}

function mediaTypeOf(body: unknown): string {
  return body instanceof Blob ? "application/octet-stream" : "application/json";
}

function toFailure(received: TransportResponse): ApiCallError {
  const failure = parseFailure(received);
  const organizations = (parseJson(received.body) as { organizations?: readonly Organization[] } | undefined)
    ?.organizations;
  return organizations ? new SeveralOrganizations(failure, organizations) : failure;
}
