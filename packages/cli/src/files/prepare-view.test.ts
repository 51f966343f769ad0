import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiCallError, NetworkError } from "@downlink/client";
import { InterruptedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import { endView } from "./prepare-view.ts";

const refusing = (error: Error) => ({ client: { call: async () => Promise.reject(error) } }) as unknown as Service;

test("a link that cannot be ended makes no failure of what was fetched; Ctrl-C remains one", async () => {
  const refusal = new ApiCallError({ status: 403, code: "MissingCapability", message: "no" });
  for (const error of [refusal, new NetworkError("cut")]) await endView(refusing(error), "view_1");
  await assert.rejects(endView(refusing(new InterruptedError("SIGINT")), "view_1"), InterruptedError);
});
