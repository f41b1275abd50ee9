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

/** Reads both files. Throws an Error that names them when they are missing, unreadable or do not belong together. */
export async function loadCertificate({ certFile, keyFile }: CertificateFiles): Promise<LoadedCertificate> {
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

/**
 * Loads a serving certificate. Files are watched until `stop`; one that is loaded already stays as it is. Throws as {@link loadCertificate}.
 */
export async function openCertificate(
  certificate: CertificateFiles | LoadedCertificate,
  options: Pick<WatchCertificateOptions, 'pollMs' | 'log' | 'onChange'>,
): Promise<{ readonly loaded: LoadedCertificate; readonly stop: () => void }> {
  if ('cert' in certificate) return { loaded: certificate, stop: () => undefined };
  const fingerprint = await fingerprintOf(certificate);
  const loaded = await loadCertificate(certificate);
  const onChange = (changed: LoadedCertificate): void => {
    options.onChange(changed);
    options.log.info({ file: certificate.certFile }, 'serving certificate reloaded');
  };
  return { loaded, ...watchCertificate({ ...options, onChange, files: certificate, fingerprint }) };
}

export interface WatchCertificateOptions {
  readonly files: CertificateFiles;
  /** The result of {@link fingerprintOf} before the files were loaded, so that no change in between is missed. */
  readonly fingerprint: string;
  readonly pollMs: number;
  readonly log: Log;
  readonly onChange: (certificate: LoadedCertificate) => void;
}

/**
 * Polls the files every `pollMs` milliseconds and calls `onChange` with a new pair. Polling also sees what file
 * events miss: mounted secrets, whose links are swapped, and network file systems. An invalid pair is logged once and
 * tried again when it changes.
 */
export function watchCertificate(options: WatchCertificateOptions): { readonly stop: () => void } {
  const { files, pollMs, log, onChange } = options;
  let seen = options.fingerprint;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(files);
    if (now === seen) return;
    seen = now;
    try {
      const certificate = await loadCertificate(files);
      if (!isStopped) onChange(certificate);
    } catch (error) {
      log.warn({ error }, 'failed to reload the serving certificate; the old one stays in use');
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
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** Returns a text that changes whenever one of the files is written or replaced. */
export async function fingerprintOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
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
