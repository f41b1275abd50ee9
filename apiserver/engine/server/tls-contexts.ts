import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { KEY_EXCHANGE_GROUPS } from '../../../shared/certs/key-exchange';
import type { Log } from '../../../shared/log/log';
import type { CertificateFiles, LoadedCertificate } from './certificate-files';
import { openCertificate } from './certificate-files';
import type { ClientAuthorities } from './peer-certificates';
import { CLIENT_CERTIFICATE_OPTIONS, clientAuthorityContext } from './peer-certificates';
import type { SniCertificate } from './sni-certificates';
import { SniCertificates } from './sni-certificates';

export interface TlsSettings {
  /** Files are watched and read again when they change. */
  readonly certificate: CertificateFiles | LoadedCertificate;
  /** Certificates selected by SNI. Absent: `certificate` is used for all names. */
  readonly sniCertificates?: readonly SniCertificate[];
  readonly minTlsVersion: 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's list of cipher suites. Absent: that of the runtime. */
  readonly ciphers?: string | undefined;
  /** Absent: no client certificates are requested. */
  readonly clientAuthorities?: ClientAuthorities | undefined;
  readonly log: Log;
}

/** The certificates and client authorities of a listener, always as their files are now. */
export class TlsContexts {
  readonly #settings: TlsSettings;
  #serving: LoadedCertificate | undefined = undefined;
  #sni: SniCertificates | undefined = undefined;
  #stopWatching: () => void = () => undefined;
  #use: (context: SecureContextOptions) => void = () => undefined;

  private constructor(settings: TlsSettings) {
    this.#settings = settings;
  }

  /** Loads all certificates and polls their files every `certificatePollMs`. Rejects with an Error that names those which cannot be used. */
  static async open(settings: TlsSettings & { readonly certificatePollMs: number }): Promise<TlsContexts> {
    const { certificate, sniCertificates = [], certificatePollMs: pollMs, log } = settings;
    const opened = new TlsContexts(settings);
    const { loaded, stop } = await openCertificate(certificate, {
      name: 'serving',
      pollMs,
      log,
      onChange: (changed) => {
        opened.#serving = changed;
        opened.#renew();
      },
    });
    opened.#serving = loaded;
    opened.#stopWatching = stop;
    if (sniCertificates.length === 0) return opened;
    const contextOf = (each: LoadedCertificate): SecureContextOptions => opened.#contextOf(each);
    opened.#sni = await SniCertificates.open({ certificates: sniCertificates, pollMs, log, contextOf });
    return opened;
  }

  /** The options of a new listener. */
  options(): TlsOptions {
    const sni = this.#sni;
    const bySni: Pick<TlsOptions, 'SNICallback'> =
      sni === undefined
        ? {}
        : {
            SNICallback: (name, done) => {
              done(null, sni.contextFor(name));
            },
          };
    const forClients = this.#settings.clientAuthorities === undefined ? {} : CLIENT_CERTIFICATE_OPTIONS;
    return { ...this.#contextOf(this.#serving), ...forClients, ...bySni };
  }

  /** Calls `use` with the new context whenever the main certificate or the client authorities change. */
  onChange(use: (context: SecureContextOptions) => void): void {
    this.#use = use;
    this.#settings.clientAuthorities?.onChange(() => {
      this.#renew();
      this.#sni?.renew();
    });
  }

  stop(): void {
    this.#stopWatching();
    this.#sni?.stop();
  }

  #renew(): void {
    this.#use(this.#contextOf(this.#serving));
  }

  #contextOf(certificate: LoadedCertificate | undefined): SecureContextOptions {
    const { minTlsVersion: minVersion, ciphers, clientAuthorities } = this.#settings;
    const forClients = clientAuthorities === undefined ? {} : clientAuthorityContext(clientAuthorities);
    const offered = ciphers === undefined ? {} : { ciphers };
    return { ...certificate, minVersion, ...offered, ecdhCurve: KEY_EXCHANGE_GROUPS, ...forClients };
  }
}
