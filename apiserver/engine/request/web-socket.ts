import type { IncomingHttpHeaders } from 'node:http';
import { listElements } from './header-values';

/** Returns whether the request is a WebSocket handshake. */
export function isWebSocketRequest({ upgrade, connection }: IncomingHttpHeaders): boolean {
  return lists(connection, 'upgrade') && lists(upgrade, 'websocket');
}

function lists(header: string | undefined, token: string): boolean {
  return header !== undefined && listElements(header).some((each) => each.trim().toLowerCase() === token);
}
