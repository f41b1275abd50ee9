import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import type { Clock } from '../../../shared/concurrency/clock';
import { systemClock } from '../../../shared/concurrency/clock';

/** A certificate with its chain and key, both PEM. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface ServingCertificateOptions {
  /** Both empty: a certificate is generated and kept only in memory. */
  readonly certFile: string;
  readonly keyFile: string;
  /** The bound address, for a generated certificate. */
  readonly bindAddress: string;
  readonly clock?: Clock;
}

/** Thrown when the files of the certificate cannot be used. */
export class ServingCertificateError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ServingCertificateError';
  }
}

const VALID_DAYS = 365;
/** Remaining validity below which a generated certificate is renewed, in milliseconds. */
const REMAINING_MS_MIN = 30 * 86_400_000;
const UNSPECIFIED = ['0.0.0.0', '::', ''];

/** Returns a function that reads or generates the current certificate and throws ServingCertificateError. */
export function servingCertificates(options: ServingCertificateOptions): () => ServingCertificate {
  return options.certFile === '' ? selfSigned(options) : () => readPair(options);
}

function readPair({ certFile, keyFile }: ServingCertificateOptions): ServingCertificate {
  try {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
      throw new Error('the private key does not match the certificate');
    }
    return pair;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ServingCertificateError(`--tls-cert-file ${certFile}: ${why}`, error);
  }
}

function selfSigned({
  bindAddress,
  clock = systemClock,
}: ServingCertificateOptions): () => ServingCertificate {
  const own = UNSPECIFIED.includes(bindAddress) ? [] : [bindAddress];
  const hosts = ['localhost', '127.0.0.1', '::1', hostname(), ...own];
  let made: ServingCertificate | undefined;
  return () => {
    if (made !== undefined && endOf(made) - clock.now() >= REMAINING_MS_MIN) return made;
    const validDays = VALID_DAYS;
    const ca = makeCa({ commonName: `${hostname()}-ca`, validDays, clock });
    const leaf = issueCertificate(ca, {
      commonName: hostname(),
      hosts,
      usages: ['server'],
      validDays,
      clock,
    });
    made = { cert: leaf.certificatePem + ca.certificatePem, key: leaf.privateKeyPem };
    return made;
  };
}

function endOf({ cert }: ServingCertificate): number {
  return Date.parse(new X509Certificate(cert).validTo);
}
