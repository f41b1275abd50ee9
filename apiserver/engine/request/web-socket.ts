import type { IncomingHttpHeaders } from 'node:http';

/** Returns whether the request is a WebSocket handshake. */
export function isWebSocketRequest({ upgrade, connection }: IncomingHttpHeaders): boolean {
  return lists(connection, 'upgrade') && lists(upgrade, 'websocket');
}

function lists(header: string | undefined, token: string): boolean {
  return (
    header !== undefined &&
    header
      .toLowerCase()
      .split(',')
      .some((each) => each.trim() === token)
  );
}
