import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Thrown when the file of `--root-ca-file` cannot be used. */
export class RootCaError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RootCaError';
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Returns the text of a file with at least one valid certificate and no invalid one. Throws RootCaError. */
export function readCertificates(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    const certificates = text.match(PEM) ?? [];
    if (certificates.length === 0) throw new Error('it contains no certificate');
    for (const certificate of certificates) void new X509Certificate(certificate);
    return text;
  } catch (error) {
    throw new RootCaError(`--root-ca-file ${path}: ${(error as Error).message}`, error);
  }
}
