import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import * as tls from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Certificate } from '../certs/x509/certificate';
import { certificateOf, pemCertificates } from '../certs/x509/certificate';
import { verifyChain } from '../certs/x509/chain';
import { parseChain, sentChain } from '../certs/x509/sent-chain';
import { Slices } from '../concurrency/slices';
import { defined } from '../defined';

/** How a client verifies servers, and how it identifies itself. */
export interface ClientTls {
  /** PEM. Absent: the authorities of Node are trusted, and those of `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string | Buffer;
  /** PEM of the client certificate and its key. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to verify instead of the host. */
  readonly tlsServerName?: string;
}

export interface TlsTarget extends ClientTls {
  readonly host: string;
  readonly port: number;
  /** Resolves the host; by default as Node does. */
  readonly lookup?: LookupFunction;
  readonly ALPNProtocols?: string[];
}

const TCP_KEEP_ALIVE_MS = 30_000;

/** The code of errors of verification. */
export const CERTIFICATE_ERROR = 'ECERTIFICATE';

/** The certificate of a server is not trusted, with the text of Go. */
class CertificateError extends Error {
  readonly code = CERTIFICATE_ERROR;

  constructor(why: string) {
    super(`x509: ${why}`);
    this.name = 'CertificateError';
  }
}

export interface TlsConnection {
  readonly socket: TLSSocket;
  /** Resolves once the server is verified; rejects with the error of the connection, which is destroyed then. */
  readonly verified: Promise<void>;
}

/**
 * Connects to a server and verifies it by the rules of Go, which differ from those of OpenSSL. The servers open all TLS connections here, except
 * those that read when the certificate of a member of etcd expires and send no request. The caller sends no request before `verified`. Sessions are
 * not resumed, as in Go. An untrusted server is an Error with the code `ECERTIFICATE`.
 */
export function openTls(target: TlsTarget): TlsConnection {
  const { host, port, ca, cert, key, lookup, ALPNProtocols, insecureSkipTlsVerify = false } = target;
  const { tlsServerName = host } = target;
  const socket = tls.connect({
    ...defined({ cert, key, lookup, ALPNProtocols }),
    host,
    port,
    ca: [],
    // As Go, which sends no address and no trailing dot.
    servername: isIP(tlsServerName) === 0 ? tlsServerName.replace(/\.$/u, '') : '',
    rejectUnauthorized: false,
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
  // An error after the verification must not be uncaught before the caller listens.
  socket.on('error', () => undefined);
  const verified = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => {
      reject(closedEarly());
    });
    socket.once('secureConnect', () => {
      // The certificates are read now, because Node gives them only once.
      resolve(insecureSkipTlsVerify ? undefined : verifyServer(sentChain(socket), tlsServerName, ca));
    });
  });
  verified.catch((error: Error) => socket.destroy(error));
  return { socket, verified };
}

/**
 * Returns a connection to a verified server. No code reads from it before, so that a response of another server is never used. Rejects as
 * `verified` does, or with the signal's reason.
 */
export async function connectTls(target: TlsTarget, signal: AbortSignal): Promise<TLSSocket> {
  signal.throwIfAborted();
  const { socket, verified } = openTls(target);
  const onAbort = (): void => {
    socket.destroy(signal.reason as Error);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await verified;
    if (socket.destroyed) throw signal.aborted ? signal.reason : closedEarly();
    return socket;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function closedEarly(): Error {
  return Object.assign(new Error('EOF'), { code: 'ECONNRESET' });
}

/** Throws a CertificateError if the server is not trusted, or an Error for authorities that cannot be parsed. */
async function verifyServer(
  sent: readonly X509Certificate[],
  host: string,
  ca: string | Buffer | undefined,
): Promise<void> {
  const chain = await parseChain(sent);
  const anchors = await anchorsOf(ca);
  if (typeof chain === 'string') throw new CertificateError(chain);
  const [certificate, ...intermediates] = chain;
  if (certificate === undefined) throw new CertificateError('the server sent no certificate');
  const result = await verifyChain({ certificate, intermediates, anchors, now: Date.now(), host });
  if (!result.isTrusted) throw new CertificateError(result.why);
}

/** Characters of PEM whose authorities are cached; parsed they take about five times as much. */
const CACHED_CHARS_MAX = 4 * 1024 * 1024;
/** Parsed authorities by their PEM; parsing those of Node takes some milliseconds. */
const known = new LRUCache<string, Promise<readonly Certificate[]>>({
  maxSize: CACHED_CHARS_MAX,
  sizeCalculation: (_anchors, key) => key.length,
});

async function anchorsOf(ca: string | Buffer | undefined): Promise<readonly Certificate[]> {
  const extraFile = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
  const key = ca === undefined ? `node ${extraFile}` : `pem ${ca.toString()}`;
  const found =
    known.get(key) ?? parseAnchors(ca?.toString() ?? [...nodeAuthorities(), readExtra(extraFile)].join('\n'));
  known.set(key, found);
  return found;
}

/** Malformed certificates are skipped, as in Go. Throws an Error if there is no usable one. */
async function parseAnchors(pem: string): Promise<readonly Certificate[]> {
  const slices = new Slices();
  const anchors: Certificate[] = [];
  const blocks = pemCertificates(pem);
  for (const block of blocks) {
    if (slices.due()) await slices.pause();
    try {
      anchors.push(certificateOf(new X509Certificate(block)));
    } catch {
      // The others may be usable.
    }
  }
  if (anchors.length > 0) return anchors;
  const why =
    blocks.length === 0 ? 'unable to parse bytes as PEM block' : 'no valid certificate authority data seen';
  throw new Error(`unable to load root certificates: ${why}`);
}

/** Node 22 and later report those that its options select; before there were only its own. */
function nodeAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { readonly getCACertificates?: (type: 'default') => string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
}

function readExtra(file: string): string {
  try {
    return file === '' ? '' : readFileSync(file, 'utf8');
  } catch {
    // Node warned about it when the process started.
    return '';
  }
}
