import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { MetricSet } from '../../../shared/metrics/metric-set';

/** A certificate of the process. */
export interface OwnCertificate {
  /** The purpose of the certificate: `serving`, `etcd-client`. */
  readonly name: string;
  /** A PEM file. */
  readonly file: string;
}

/** A certificate that a server presents to the process, such as a member of etcd. */
export interface PresentedCertificate {
  /** `etcd-server <host>:<port>` */
  readonly name: string;
  /** An https URL. */
  readonly server: string;
  /** The PEM files of the client certificate that the server demands. */
  readonly client?: { readonly certFile: string; readonly keyFile: string } | undefined;
}

const MS_PER_SECOND = 1_000;
/** How often the certificate of a server is read at most. */
const CHECK_MS = 10 * 60_000;
const CHECK_MS_MAX = 10_000;

/**
 * Adds the expiration times of the process's certificates, read from their files at each scrape, and of those that servers present, read by a
 * connection that a scrape starts and a later scrape reports. An unreadable certificate has no sample.
 */
export function addCertificateMetrics(
  metrics: MetricSet,
  certificates: readonly (OwnCertificate | PresentedCertificate)[],
): void {
  const ofFile = expirations();
  const ofServer = presentedExpirations();
  const expirationOf = (each: OwnCertificate | PresentedCertificate): number | undefined =>
    'file' in each ? ofFile(each.file) : ofServer(each);
  metrics.gauge({
    name: 'orch_certificate_expiration_timestamp_seconds',
    help: 'When the certificates of this process and of the members of etcd expire, in seconds since the epoch, by what they are for.',
    labels: ['name'],
    *read() {
      for (const each of certificates) {
        const until = expirationOf(each);
        if (until !== undefined) yield [{ name: each.name }, until];
      }
    },
  });
}

/** Returns a function that computes when the first certificate in a file expires. An unchanged file is not parsed again. */
function expirations(): (file: string) => number | undefined {
  const known = new Map<string, { readonly pem: string; readonly until: number }>();
  return (file) => {
    try {
      const pem = readFileSync(file, 'utf8');
      const last = known.get(file);
      if (last?.pem === pem) return last.until;
      const until = Date.parse(new X509Certificate(pem).validTo) / MS_PER_SECOND;
      known.set(file, { pem, until });
      return until;
    } catch {
      return undefined;
    }
  };
}

/** Returns a function that reports when the certificate of a server expires, as last read; it starts to read when that is long ago. */
function presentedExpirations(): (certificate: PresentedCertificate) => number | undefined {
  const known = new Map<string, { until: number | undefined; nextAt: number }>();
  return (certificate) => {
    const state = known.get(certificate.name) ?? { until: undefined, nextAt: 0 };
    known.set(certificate.name, state);
    if (performance.now() >= state.nextAt) {
      state.nextAt = performance.now() + CHECK_MS;
      readPresented(certificate).then(
        (until) => {
          state.until = until;
        },
        () => {
          // The next scrape tries again: a member that is down has other alerts.
          state.nextAt = 0;
        },
      );
    }
    return state.until;
  };
}

/** Connects to a server. The certificate is not verified, so that the time of an expired one is still known; no request is sent. */
async function readPresented({ server, client }: PresentedCertificate): Promise<number> {
  const { hostname, port } = new URL(server);
  const host = hostname.replaceAll(/^\[|\]$/gu, '');
  const keys =
    client === undefined
      ? {}
      : { cert: await readFile(client.certFile), key: await readFile(client.keyFile) };
  const socket = connect({
    host,
    port: Number(port === '' ? HTTPS_PORT : port),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...keys,
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(CHECK_MS_MAX) });
    return Date.parse(socket.getPeerCertificate().valid_to) / MS_PER_SECOND;
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

const HTTPS_PORT = 443;
