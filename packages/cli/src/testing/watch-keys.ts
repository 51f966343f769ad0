import { answerJson, serve } from "@downlink/client/testing";

/** Starts a service that has no recording, and keeps the keys with which it was called. */
export async function watchKeys() {
  const keys: (string | undefined)[] = [];
  const server = await serve((request, response) => {
    keys.push(request.headers.authorization);
    answerJson(response, 200, []);
  });
  return Object.assign(server, { keys });
}
