import type { Server, Socket } from 'node:net';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { IPv4, IPv6 } from 'ipaddr.js';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Log } from '../../../shared/log/log';
import type { AllowsAddress } from '../../../shared/meta/ip-address';

/** The address of a client, as a load balancer reports it. */
export interface ProxiedClient {
  readonly address: string;
  readonly port: number;
}

export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly is: 'partial' }
  | { readonly is: 'malformed' }
  /** Without a client, the connection is one of the balancer itself, such as a health check. */
  | { readonly is: 'header'; readonly bytes: number; readonly client: ProxiedClient | undefined };

const PARTIAL = { is: 'partial' } as const;
const MALFORMED = { is: 'malformed' } as const;

/**
 * Reads the header at the beginning of `received` by the specification of the PROXY protocol of HAProxy, versions 1 and 2. Additional fields
 * (TLVs) of version 2 are skipped.
 */
export function readProxyHeader(received: Buffer): ProxyHeader {
  const isV2 = startsAlike(received, V2_SIGNATURE);
  if (!isV2) return startsAlike(received, V1_PREFIX) ? readV1(received) : MALFORMED;
  return received.length < V2_FIXED_BYTES ? PARTIAL : readV2(received);
}

export interface ProxyProtocolOptions {
  /** Whether connections from an address begin with a header. Others are those of clients. */
  readonly isBalancer: AllowsAddress;
  readonly log: Log;
  /** How long a header may take, in milliseconds. */
  readonly headerMsMax?: number;
}

/**
 * Reads the PROXY header of connections from load balancers, whose client's address then is that of the connection: for limits, audit events and
 * logs. A connection without a header, or with a malformed one, is closed. Call it after the listeners for connections that limit clients are
 * added, which then see the address of the client.
 */
export function acceptProxyHeaders(server: Server, options: ProxyProtocolOptions): void {
  const { isBalancer } = options;
  /** Clients by the address and port of the balancer, until the handshake is complete. */
  const clients = new Map<string, ProxiedClient>();
  const refuse = createRefusal(options.log);
  let pending = 0;
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  const start = (socket: Socket): void => {
    for (const listener of begin) Reflect.apply(listener, server, [socket]);
  };
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !isBalancer(remoteAddress)) {
      start(socket);
      return;
    }
    if (pending >= PENDING_MAX) {
      refuse(socket, 'too many connections wait for their PROXY header');
      return;
    }
    pending++;
    const balancer = peerOf(socket);
    awaitHeader(socket, options, (header) => {
      pending--;
      if (typeof header === 'string') {
        refuse(socket, header);
        return;
      }
      if (header.client !== undefined) {
        clients.set(balancer, header.client);
        socket.once('close', () => clients.delete(balancer));
        showClient(socket, header.client);
      }
      start(socket);
    });
  });
  server.prependListener('secureConnection', (secured: TLSSocket) => {
    const client = clients.get(peerOf(secured));
    if (client !== undefined) showClient(secured, client);
  });
}

const HEADER_MS_MAX = 5_000;
/** A balancer sends the header at once, so that few connections wait for it. */
const PENDING_MAX = 4_096;
const LOG_MS_MIN = 10_000;

const V1_PREFIX = Buffer.from('PROXY ');
/** With the final CRLF. */
const V1_BYTES_MAX = 107;
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_FIXED_BYTES = 16;
/** With its TLVs, of which a client certificate is the largest. */
const V2_BYTES_MAX = 8_192;
const V2_LOCAL = 0x20;
const V2_PROXY = 0x21;
/** The bytes of an address, by address family and protocol: TCP over IPv4 and IPv6. */
const V2_ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [0x11, 4],
  [0x21, 16],
]);
const PORT_BYTES = 2;

function startsAlike(received: Buffer, prefix: Buffer): boolean {
  const length = Math.min(received.length, prefix.length);
  return received.subarray(0, length).equals(prefix.subarray(0, length));
}

function readV1(received: Buffer): ProxyHeader {
  const line = received.subarray(0, V1_BYTES_MAX).toString('latin1');
  const end = line.indexOf('\r\n');
  if (end < 0) return received.length < V1_BYTES_MAX ? PARTIAL : MALFORMED;
  const bytes = end + 2;
  const [, family = '', ...fields] = line.slice(0, end).split(' ');
  if (family === 'UNKNOWN') return { is: 'header', bytes, client: undefined };
  const [source = '', destination = '', sourcePort = '', destinationPort = ''] = fields;
  const version = family === 'TCP4' ? 4 : 6;
  const isValid =
    (family === 'TCP4' || family === 'TCP6') &&
    fields.length === 4 &&
    isIP(source) === version &&
    isIP(destination) === version &&
    isPort(sourcePort) &&
    isPort(destinationPort);
  return isValid ? { is: 'header', bytes, client: { address: source, port: Number(sourcePort) } } : MALFORMED;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/u.test(text) && Number(text) <= 65_535;
}

function readV2(received: Buffer): ProxyHeader {
  const command = received.readUInt8(12);
  const family = received.readUInt8(13);
  const bytes = V2_FIXED_BYTES + received.readUInt16BE(14);
  if ((command !== V2_LOCAL && command !== V2_PROXY) || bytes > V2_BYTES_MAX) return MALFORMED;
  if (received.length < bytes) return PARTIAL;
  const addressBytes = V2_ADDRESS_BYTES.get(family);
  if (command === V2_LOCAL || addressBytes === undefined) return { is: 'header', bytes, client: undefined };
  const ports = V2_FIXED_BYTES + 2 * addressBytes;
  if (bytes < ports + 2 * PORT_BYTES) return MALFORMED;
  const source = [...received.subarray(V2_FIXED_BYTES, V2_FIXED_BYTES + addressBytes)];
  const address = (addressBytes === 4 ? new IPv4(source) : new IPv6(source)).toString();
  return { is: 'header', bytes, client: { address, port: received.readUInt16BE(ports) } };
}

type Header = Extract<ProxyHeader, { readonly is: 'header' }>;

/** Calls `done` once with the header, or with the reason why there is none. Bytes after the header stay in the socket. */
function awaitHeader(
  socket: Socket,
  { headerMsMax = HEADER_MS_MAX }: ProxyProtocolOptions,
  done: (header: Header | string) => void,
): void {
  let received = Buffer.alloc(0);
  const end = (header: Header | string): void => {
    clearTimeout(timer);
    socket.off('readable', onReadable);
    socket.off('close', onClose);
    socket.off('error', onError);
    done(header);
  };
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    received = Buffer.concat([received, chunk]);
    const header = readProxyHeader(received);
    if (header.is === 'partial') return;
    if (header.is === 'malformed') {
      end('a connection from a load balancer without a valid PROXY header');
      return;
    }
    const rest = received.subarray(header.bytes);
    if (rest.length > 0) socket.unshift(rest);
    end(header);
  };
  const onClose = (): void => end('a load balancer closed a connection before its PROXY header');
  const onError = (): void => undefined;
  const timer = setTimeout(() => end('a load balancer sent no PROXY header in time'), headerMsMax).unref();
  socket.on('readable', onReadable);
  socket.on('close', onClose);
  socket.on('error', onError);
}

function createRefusal(log: Log): (socket: Socket, why: string) => void {
  let loggedAt = -Infinity;
  return (socket, why) => {
    const { remoteAddress: balancer } = socket;
    socket.on('error', () => undefined);
    socket.destroy();
    const now = monotonicClock.now();
    if (now - loggedAt < LOG_MS_MIN) return;
    loggedAt = now;
    log.warn({ balancer }, why);
  };
}

/** Two open connections of a balancer differ in the port. */
function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${String(remotePort)}`;
}

function showClient(socket: Socket, { address, port }: ProxiedClient): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address, configurable: true },
    remotePort: { value: port, configurable: true },
    remoteFamily: { value: isIP(address) === 4 ? 'IPv4' : 'IPv6', configurable: true },
  });
}
