import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import type { Log } from '../../shared/log/log';

/** Thrown when the file of `--root-ca-file` cannot be used. */
export class RootCaError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RootCaError';
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** A file of authorities that is read again while it is used. */
export interface RootCaFile {
  /** The certificates as PEM text. */
  readonly current: () => string;
  /** Resolves when the certificates have changed, or the signal aborts. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
}

export interface RootCaFileOptions {
  readonly log: Log;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** The interval of reads, in milliseconds; ten seconds if absent, as that of API servers. */
  readonly pollMs?: number;
}

const POLL_MS = 10_000;

/**
 * Reads the file, and again every `pollMs` until the signal aborts. A file that cannot be used is logged once, and the last good content stays
 * in use. Throws RootCaError if it cannot be used from the beginning.
 */
export function openRootCaFile(path: string, options: RootCaFileOptions): RootCaFile {
  const { log, signal, pollMs = POLL_MS } = options;
  let pem = readCertificates(path);
  let reported = '';
  const listeners = new Set<() => void>();
  const timer = setInterval(() => {
    try {
      const read = readCertificates(path);
      reported = '';
      if (read === pem) return;
      pem = read;
    } catch (error) {
      if (String(error) !== reported)
        log.warn({ file: path, error }, 'failed to reload the authorities of pods');
      reported = String(error);
      return;
    }
    log.info({ file: path }, 'authorities of pods reloaded');
    for (const listener of listeners) listener();
  }, pollMs).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    current: () => pem,
    changed: async (until) =>
      new Promise((resolve) => {
        const done = (): void => {
          listeners.delete(done);
          until.removeEventListener('abort', done);
          resolve();
        };
        listeners.add(done);
        until.addEventListener('abort', done, { once: true });
        if (until.aborted) done();
      }),
  };
}

/** Runs `work` with the authorities, and again from the beginning whenever their file has changed. `work` ends with its signal. */
export async function runWithRootCa(
  rootCa: string | RootCaFile | undefined,
  signal: AbortSignal,
  work: (pem: string | undefined, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (rootCa === undefined || typeof rootCa === 'string') {
    await work(rootCa, signal);
    return;
  }
  while (!signal.aborted) {
    const { signal: current, abort, unlink } = linkedAbort(signal);
    const working = work(rootCa.current(), current);
    try {
      await Promise.race([rootCa.changed(current), working]);
    } finally {
      abort(new Error('the authorities of pods have changed'));
      unlink();
      await working;
    }
  }
}

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
