import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Answer, Exchange, Tunnel } from '../request/exchange';
import type { ListenerRequest } from './listener-request';
import { TUNNEL_HALF_MS_MAX, TUNNEL_IDLE_MS_MAX } from './limits';

type TunnelAnswer = Answer & { readonly tunnel: Tunnel };

/** An upgraded connection and the upstream connection that it is joined with. */
export interface TunnelParts {
  readonly request: ListenerRequest;
  /** Holds the connection of the client. */
  readonly response: ServerResponse;
  readonly exchange: Exchange;
  readonly answer: TunnelAnswer;
}

export function isTunnel(answer: Answer): answer is TunnelAnswer {
  return answer.tunnel !== undefined;
}

/**
 * Pipes the client’s connection and the upstream one in both directions, with backpressure. A side that ends its
 * direction can still receive. Both end when both directions have ended, when one breaks, after the idle timeout, or
 * when the exchange is aborted.
 */
export function joinTunnel({ request, response, exchange, answer }: TunnelParts): void {
  const { socket: client } = response;
  const { socket: other, head } = answer.tunnel;
  if (client === null || client.destroyed || exchange.signal.aborted) {
    other.destroy();
    client?.destroy();
    return;
  }
  client.write(headOf(answer, exchange), 'latin1');
  if (head.length > 0) client.write(head);
  if (request.upgradeHead.length > 0) other.write(request.upgradeHead);
  const cut = (): void => {
    client.destroy();
    other.destroy();
  };
  exchange.signal.addEventListener('abort', cut, { once: true });
  connect(client, other, cut);
  connect(other, client, cut);
}

function connect(from: Duplex, to: Duplex, cut: () => void): void {
  // Without it, Node ends its own direction when the peer ends the other.
  from.allowHalfOpen = true;
  limitIdle(from, TUNNEL_IDLE_MS_MAX, cut);
  from.on('error', cut);
  from.on('end', () => {
    limitIdle(from, TUNNEL_HALF_MS_MAX, cut);
    limitIdle(to, TUNNEL_HALF_MS_MAX, cut);
  });
  from.on('close', () => {
    endSoon(to);
  });
  from.pipe(to);
}

/** Ends a socket after the bytes that were read are delivered. */
function endSoon(socket: Duplex): void {
  if (socket.destroyed) return;
  if (!socket.writableEnded) socket.end();
  if (socket.writableFinished) socket.destroy();
  else socket.once('finish', () => socket.destroy());
  setTimeout(() => socket.destroy(), TUNNEL_HALF_MS_MAX).unref();
}

function limitIdle(socket: Duplex, ms: number, cut: () => void): void {
  if (!isNetSocket(socket)) return;
  socket.removeAllListeners('timeout');
  socket.setTimeout(ms, cut);
}

function isNetSocket(socket: Duplex): socket is Socket {
  return socket instanceof Socket;
}

function headOf({ code, headers }: Answer, { audit }: Exchange): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  if (audit !== undefined) lines.push(`Audit-Id: ${audit.id}`);
  return `HTTP/1.1 ${String(code)} ${STATUS_CODES[code] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
}
