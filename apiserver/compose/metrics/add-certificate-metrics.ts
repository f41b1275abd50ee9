import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MetricSet } from '../../../shared/metrics/metric-set';

/** A certificate of the process. */
export interface OwnCertificate {
  /** The purpose of the certificate: `serving`, `etcd-client`. */
  readonly name: string;
  /** A PEM file. */
  readonly file: string;
}

const MS_PER_SECOND = 1_000;

/** Adds the expiration times of the process's certificates, read from their files at each scrape. An unreadable file has no sample. */
export function addCertificateMetrics(metrics: MetricSet, certificates: readonly OwnCertificate[]): void {
  const expirationOf = expirations();
  metrics.gauge({
    name: 'orch_certificate_expiration_timestamp_seconds',
    help: 'When the certificates of this process expire, in seconds since the epoch, by what they are for.',
    labels: ['name'],
    *read() {
      for (const { name, file } of certificates) {
        const until = expirationOf(file);
        if (until !== undefined) yield [{ name }, until];
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
