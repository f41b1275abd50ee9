/**
 * The files of one bundle, by name: `tls.crt`, `tls.key` and `ca.crt`; `sa.key` and `sa.pub` of a key for tokens; `encrypt.yaml` and
 * `decrypt.yaml` of a key for what is stored; `password`. An authority that is being rotated also has `rotated-at`, and its successor or
 * its predecessor as `next.*` or `previous.*`.
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
  rotation: 'rotated-at',
  nextCertificate: 'next.crt',
  nextKey: 'next.key',
  previousCertificate: 'previous.crt',
  previousKey: 'previous.key',
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
  /** Restarts the pods of a workload one after the other, so that they read their certificate and authorities. */
  restart(workload: Workload): Promise<void>;
  close(): void;
}

export interface Workload {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly name: string;
}

/** What to do with a bundle. Without `make` it is refused, and `reason` says what an operator can do. */
export type BundleChange =
  | { readonly reason: string; readonly make: () => Bundle }
  | { readonly reason: string; readonly make: undefined };

/** The result for one bundle. A refused bundle needs an operator: `reason` says what to do. */
export interface EnsuredBundle {
  readonly name: string;
  readonly action: 'kept' | 'made' | 'renewed' | 'refused';
  readonly reason: string;
}

const ATTEMPTS_MAX = 5;

/**
 * Applies a change to the bundle `name` with optimistic concurrency. `change` is evaluated again when another writer changed the bundle, and
 * returns undefined to keep it. Throws after five conflicts.
 */
export async function changeBundle(
  store: BundleStore,
  name: string,
  change: (before: Bundle | undefined) => BundleChange | undefined,
): Promise<EnsuredBundle & { readonly before: Bundle | undefined; readonly bundle: Bundle }> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const before = await store.read(name);
    const wanted = change(before);
    if (wanted === undefined) return { name, action: 'kept', reason: '', before, bundle: before ?? {} };
    const { reason, make } = wanted;
    if (make === undefined) return { name, action: 'refused', reason, before, bundle: {} };
    const bundle = make();
    if (await store.write(name, bundle))
      return { name, action: before === undefined ? 'made' : 'renewed', reason, before, bundle };
  }
  throw new Error(`other writers changed "${name}" ${String(ATTEMPTS_MAX)} times; run this again`);
}

/** Marks a bundle as one that an operator has to look at. */
export function refuse(reason: string): BundleChange {
  return { reason, make: undefined };
}

/**
 * The certificates, as PEM, that programs trust in place of an authority: its `ca.crt`, which contains two authorities while one is rotated.
 * Falls back to the authority's own certificate if `ca.crt` does not contain it.
 */
export function getTrustedAuthorities(authority: Bundle): string {
  const own = authority[BUNDLE_FILE.certificate] ?? '';
  const trusted = authority[BUNDLE_FILE.authority] ?? '';
  const block = splitPem(own)[0];
  return block !== undefined && splitPem(trusted).includes(block) ? trusted : own;
}

/** Joins certificates (PEM), each once. */
export function joinCertificates(...pems: readonly string[]): string {
  return [...new Set(pems.flatMap(splitPem))].map((block) => `${block}\n`).join('');
}

/** Removes the certificates of `removed` from `pem`. */
export function withoutCertificates(pem: string, removed: string): string {
  const blocks = splitPem(removed);
  return splitPem(pem)
    .filter((block) => !blocks.includes(block))
    .map((block) => `${block}\n`)
    .join('');
}

function splitPem(pem: string): readonly string[] {
  return (pem.match(CERTIFICATE_BLOCK) ?? []).map((block) => block.replaceAll('\r', ''));
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;
