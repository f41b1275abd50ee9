import { networkInterfaces } from 'node:os';

/** An IPv4 address of this host that is not loopback, for what proxies may reach; undefined if there is none. */
export const externalAddress: string | undefined = Object.values(networkInterfaces())
  .flatMap((each = []) => each)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
