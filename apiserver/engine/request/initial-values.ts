import type { Exchange, UserInfo } from './exchange';
import type { RequestInfo } from './request-info';
import { nonResource } from './request-info';

/** The value of `info` before the path is parsed. */
export const NO_INFO: RequestInfo = nonResource({ path: '', verb: '' });

/** The value of `user` before authentication: no name and no rights. */
export const NO_USER: UserInfo = { name: '', uid: '', groups: [], extra: {} };

/** The abort reason of an exchange whose client disconnected. It has no answer. */
export class ClientGoneError extends Error {
  constructor() {
    super('The client closed the connection.');
    this.name = 'ClientGoneError';
  }
}

/** Returns whether the exchange was aborted because its client disconnected. */
export function isClientGone(exchange: Exchange): boolean {
  return exchange.signal.aborted && exchange.signal.reason instanceof ClientGoneError;
}
