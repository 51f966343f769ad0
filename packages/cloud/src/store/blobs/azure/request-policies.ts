import type { RequestPolicyFactory, WebResource } from "@azure/storage-blob";

const READS = ["GET", "HEAD"];
const STORED_MD5 = "x-ms-blob-content-md5";

/**
 * Lets the service compare the MD5 of a blob that is sent whole. The SDK has an option for the MD5 that is stored with the blob; only the
 * other header is documented to be compared with what arrives.
 */
export const checkSentBlobs: RequestPolicyFactory = {
  create: (next) => ({
    async sendRequest(request: WebResource) {
      const md5 = request.headers.get(STORED_MD5);
      const isWhole = request.method === "PUT" && request.headers.contains("x-ms-blob-type");
      if (md5 !== undefined && isWhole) request.headers.set("Content-MD5", md5);
      return await next.sendRequest(request);
    },
  }),
};

/** Sends no request that could change something. */
export const refuseWrites: RequestPolicyFactory = {
  create: (next) => ({
    async sendRequest(request: WebResource) {
      if (!READS.includes(request.method)) throw new TypeError(`${request.method} is not sent to this container`);
      return await next.sendRequest(request);
    },
  }),
};
