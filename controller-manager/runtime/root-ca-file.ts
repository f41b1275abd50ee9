import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The file of `--root-ca-file` cannot be used. */
export class RootCaError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RootCaError';
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The text of a file that holds at least one certificate, and none that cannot be read. Throws RootCaError. */
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
