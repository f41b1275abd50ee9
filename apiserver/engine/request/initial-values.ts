import type { Exchange, UserInfo } from './exchange';
import type { RequestInfo } from './request-info';
import { nonResource } from './request-info';

/** What stands in `info` until the stage that parses the path has run. */
export const NO_INFO: RequestInfo = nonResource({ path: '', verb: '' });

/** What stands in `user` until authentication has run: somebody with no name and no rights. */
export const NOBODY: UserInfo = { name: '', uid: '', groups: [], extra: {} };

/** The reason with which an exchange's signal aborts when its client went away. Nobody is left to answer. */
export class ClientGoneError extends Error {
  constructor() {
    super('The client closed the connection.');
    this.name = 'ClientGoneError';
  }
}

/** True when the exchange was given up because its client left. */
export function isClientGone(exchange: Exchange): boolean {
  return exchange.signal.aborted && exchange.signal.reason instanceof ClientGoneError;
}
