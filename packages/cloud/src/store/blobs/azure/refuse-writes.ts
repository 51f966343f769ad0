import type { RequestPolicyFactory, WebResource } from "@azure/storage-blob";

const READS = ["GET", "HEAD"];

/** Sends no request that could change something. */
export const refuseWrites: RequestPolicyFactory = {
  create: (next) => ({
    async sendRequest(request: WebResource) {
      if (!READS.includes(request.method)) throw new TypeError(`${request.method} is not sent to this container`);
      return await next.sendRequest(request);
    },
  }),
};
