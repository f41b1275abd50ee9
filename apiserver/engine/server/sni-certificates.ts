import { X509Certificate } from 'node:crypto';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { Log } from '../../../shared/log/log';
import type { CertificateFiles, LoadedCertificate } from './certificate-files';
import { openCertificate } from './certificate-files';

/** A certificate for clients that request one of its names (SNI). */
export interface SniCertificate {
  readonly files: CertificateFiles;
  /** Host names, also with a wildcard for the first label (`*.example.com`). Empty: the names in the certificate. */
  readonly names: readonly string[];
}

export interface SniOptions {
  readonly certificates: readonly SniCertificate[];
  readonly pollMs: number;
  readonly log: Log;
  /** Returns the TLS options of a certificate: versions, ciphers, client authorities. */
  readonly contextOf: (certificate: LoadedCertificate) => SecureContextOptions;
}

interface Loaded {
  readonly row: SniCertificate;
  readonly certificate: LoadedCertificate;
}

/** The certificates selected by SNI. Renewed files are reloaded, like those of the main certificate. */
export class SniCertificates {
  readonly #options: SniOptions;
  readonly #stops: (() => void)[] = [];
  #loaded: Loaded[] = [];
  #contexts: ReadonlyMap<string, SecureContext> = new Map();

  private constructor(options: SniOptions) {
    this.#options = options;
  }

  /** Reads all files. Rejects with an Error that names those which cannot be used. */
  static async open(options: SniOptions): Promise<SniCertificates> {
    const opened = new SniCertificates(options);
    for (const [index, row] of options.certificates.entries()) await opened.#add(index, row);
    opened.renew();
    return opened;
  }

  /** Rebuilds the TLS contexts, after a change of certificates or client authorities. */
  renew(): void {
    const contexts = new Map<string, SecureContext>();
    for (const { row, certificate } of this.#loaded) {
      const context = createSecureContext(this.#options.contextOf(certificate));
      for (const name of row.names.length > 0 ? row.names : namesOf(certificate)) {
        const key = name.toLowerCase();
        // The first certificate with a name is used.
        if (!contexts.has(key)) contexts.set(key, context);
      }
    }
    this.#contexts = contexts;
  }

  /** Returns undefined for a name without a certificate: the main one is used. */
  contextFor(serverName: string): SecureContext | undefined {
    const name = serverName.toLowerCase();
    return this.#contexts.get(name) ?? this.#contexts.get(name.replace(/^[^.]*/u, '*'));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  async #add(index: number, row: SniCertificate): Promise<void> {
    const { pollMs, log } = this.#options;
    const { loaded, stop } = await openCertificate(row.files, {
      name: 'serving',
      pollMs,
      log,
      onChange: (certificate) => {
        this.#loaded = this.#loaded.with(index, { row, certificate });
        this.renew();
      },
    });
    this.#loaded.push({ row, certificate: loaded });
    this.#stops.push(stop);
  }
}

/** Returns the names of a certificate as clients match them: its DNS names, or its common name if it has none. */
function namesOf({ cert }: LoadedCertificate): readonly string[] {
  if (!Buffer.isBuffer(cert)) return [];
  const { subject, subjectAltName = '' } = new X509Certificate(cert);
  const names = [...subjectAltName.matchAll(/DNS:([^,"\s]+)/gu)].map(([, name = '']) => name);
  if (names.length > 0) return names;
  const common = /^CN=(.+)$/mu.exec(subject)?.[1];
  return common === undefined ? [] : [common];
}
