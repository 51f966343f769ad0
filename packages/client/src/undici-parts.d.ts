declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";

  export = Agent;
}

declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";

  export = Pool;
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  import { ProxyAgent } from "undici";

  export = ProxyAgent;
}

declare module "undici/lib/global.js" {
  export { getGlobalDispatcher } from "undici";
}

declare module "undici/lib/api/api-connect.js" {
  import type { Dispatcher } from "undici";

  function connect(this: Dispatcher, options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  export = connect;
}

declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  function request(this: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  export = request;
}
