/**
 * The files of one bundle, by name: `tls.crt`, `tls.key` and `ca.crt`; `sa.key` and `sa.pub` of a key for tokens; `encrypt.yaml` and
 * `decrypt.yaml` of a key for what is stored; `password`.
 */
export type Bundle = Readonly<Record<string, string>>;

/** The names of the files in a bundle. By `encrypt.yaml` objects are written encrypted, by `decrypt.yaml` they can only be read so. */
export const BUNDLE_FILE = {
  certificate: 'tls.crt',
  key: 'tls.key',
  authority: 'ca.crt',
  tokenKey: 'sa.key',
  tokenPublicKey: 'sa.pub',
  encrypting: 'encrypt.yaml',
  reading: 'decrypt.yaml',
  password: 'password',
} as const;

/** Where bundles are kept. */
export interface BundleStore {
  /** Undefined if there is none. */
  read(name: string): Promise<Bundle | undefined>;
  /**
   * Keeps a bundle that was not there, or replaces the one that was read last. False if somebody else wrote it meanwhile: it must be read
   * again.
   */
  write(name: string, bundle: Bundle): Promise<boolean>;
  /** Starts the programs of a deployment again, so that they read their certificate. */
  restart(deployment: string): Promise<void>;
  close(): void;
}
