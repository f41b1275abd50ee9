import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Log } from '../../../shared/log/log';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A checked serving certificate: it parses and matches its key. */
export interface LoadedCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface OpenCertificateOptions {
  /** What the certificate is for, in log lines. */
  readonly name: 'serving' | 'client';
  readonly pollMs: number;
  readonly log: Log;
  /** Called with each new pair. */
  readonly onChange: (certificate: LoadedCertificate) => void;
}

/**
 * Loads a certificate and polls its files every `pollMs` milliseconds until `stop`; one that is loaded already stays as
 * it is. Polling also sees what file events miss: mounted secrets, whose links are swapped, and network file systems.
 * An invalid pair is logged once and tried again when it changes. Throws an Error that
 * names the files when they cannot be used.
 */
export async function openCertificate(
  certificate: CertificateFiles | LoadedCertificate,
  { name, pollMs, log, onChange }: OpenCertificateOptions,
): Promise<{ readonly loaded: LoadedCertificate; readonly stop: () => void }> {
  if ('cert' in certificate) return { loaded: certificate, stop: () => undefined };
  // Before the files are loaded, so that no change in between is missed.
  let seen = await fingerprintOf(certificate);
  const loaded = await loadCertificate(certificate);
  let isStopped = false;
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(certificate);
    if (now === seen) return;
    seen = now;
    try {
      const changed = await loadCertificate(certificate);
      if (isStopped) return;
      onChange(changed);
      log.info({ file: certificate.certFile }, `${name} certificate reloaded`);
    } catch (error) {
      log.warn({ error }, `failed to reload the ${name} certificate; the old one stays in use`);
    }
  };
  let looking: Promise<void> | undefined;
  const tick = (): void => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  };
  const timer = setInterval(tick, pollMs).unref();
  return {
    loaded,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** Reads both files. Throws an Error that names them when they are missing, unreadable or do not belong together. */
async function loadCertificate({ certFile, keyFile }: CertificateFiles): Promise<LoadedCertificate> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
      throw new Error('the private key does not match the certificate');
    }
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The serving certificate ${certFile} with key ${keyFile} cannot be used: ${why}`, {
      cause: error,
    });
  }
}

/** Returns a text that changes whenever one of the files is written or replaced. */
async function fingerprintOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const parts = await Promise.all(
    [certFile, keyFile].map(async (file) => {
      try {
        const { ino, size, mtimeMs } = await stat(file);
        return `${String(ino)}:${String(size)}:${String(mtimeMs)}`;
      } catch {
        return 'missing';
      }
    }),
  );
  return parts.join(' ');
}
