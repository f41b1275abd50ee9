import type { KeyObject } from 'node:crypto';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { KeyedCertificate } from '../../../shared/certs/certificate';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import type { Clock } from '../../../shared/concurrency/clock';
import { newEncryptionConfigurations } from '../../../shared/encryption-configuration';
import type { Bundle, BundleStore } from './bundle-store';
import { BUNDLE_FILE } from './bundle-store';
import type { AuthorityPlan, CertificatePlan, Plan } from './plan';
import type { BundleRecord } from './record';
import { readRecord, updateRecord } from './record';

/** The result for one bundle. A refused bundle needs an operator: `reason` says what to do. */
export interface EnsuredBundle {
  readonly name: string;
  readonly action: 'kept' | 'made' | 'renewed' | 'refused';
  readonly reason: string;
}

export interface EnsureOptions {
  /** Never create an authority, a key or a password: a missing one is refused. Certificates are still issued. */
  readonly isRenewal?: boolean;
  /** Bundles that may be created although they existed before, and authorities that may differ from the recorded fingerprint. */
  readonly replace?: readonly string[];
}

/**
 * Creates the bundles of the plan that never existed. Renews certificates in their last third, certificates whose names differ from the plan,
 * and certificates of a replaced authority. Authorities, keys and passwords are never recreated once they existed, because everything that
 * they signed or encrypted would become unusable: a vanished one is refused, and so is an authority that differs from its recorded fingerprint.
 */
export async function ensureBundles(
  plan: Plan,
  store: BundleStore,
  clock: Clock,
  options: EnsureOptions = {},
): Promise<readonly EnsuredBundle[]> {
  const record = await readRecord(store, plan.record);
  const run: Run = { plan, store, clock, record, options };
  const ensured: EnsuredBundle[] = [];
  const authorities = new Map<string, KeyedCertificate>();
  for (const each of plan.authorities) {
    const { bundle, ...result } = await ensureAuthority(run, each);
    ensured.push(result);
    if (result.action !== 'refused') authorities.set(each.name, toKeyedCertificate(bundle));
  }
  const keys: string[] = [];
  for (const { name, make } of listKeys(plan)) {
    const isKnown = record?.keys.includes(name) === true;
    const { bundle: _bundle, ...result } = await ensureBundle(store, name, (before) =>
      before === undefined ? createOrRefuse(run, name, isKnown, make) : undefined,
    );
    ensured.push(result);
    if (result.action !== 'refused') keys.push(name);
  }
  await updateRecord(store, plan.record, { fingerprints: getFingerprints(authorities), keys });
  for (const each of plan.certificates) ensured.push(await ensureCertificate(run, each, authorities));
  return ensured;
}

const ATTEMPTS_MAX = 5;
const DAY_MS = 86_400_000;
const PASSWORD_BYTES = 24;

interface Run {
  readonly plan: Plan;
  readonly store: BundleStore;
  readonly clock: Clock;
  /** Undefined before the first run of a version that keeps a record. */
  readonly record: BundleRecord | undefined;
  readonly options: EnsureOptions;
}

type Change =
  | { readonly reason: string; readonly make: () => Bundle }
  | { readonly reason: string; readonly make: undefined };

async function ensureAuthority(
  run: Run,
  plan: AuthorityPlan,
): Promise<EnsuredBundle & { readonly bundle: Bundle }> {
  const { name } = plan;
  const { store, record, options } = run;
  const recorded = record?.fingerprints[name];
  const existed = recorded !== undefined || (record === undefined && (await hasIssued(run, name)));
  return ensureBundle(store, name, (before) => {
    if (before === undefined)
      return createOrRefuse(run, name, existed, () =>
        toBundle(makeCa({ ...plan, clock: run.clock }), undefined),
      );
    const pem = before[BUNDLE_FILE.certificate];
    if (pem === undefined || before[BUNDLE_FILE.key] === undefined)
      return refuse(
        `${BUNDLE_FILE.certificate} or ${BUNDLE_FILE.key} of the authority is missing; restore it from a backup`,
      );
    const fingerprint256 = parseCertificate(pem)?.fingerprint256;
    if (fingerprint256 === undefined || parsePrivateKey(before[BUNDLE_FILE.key] ?? '') === undefined)
      return refuse(
        `${BUNDLE_FILE.certificate} or ${BUNDLE_FILE.key} of the authority cannot be parsed; restore it from a backup`,
      );
    if (recorded === undefined || recorded === fingerprint256 || options.replace?.includes(name) === true)
      return undefined;
    return refuse(
      `the authority has another fingerprint than recorded (${recorded}); restore it, or accept the new one by --replace=${name}`,
    );
  });
}

/** For stores without a record: an authority existed if a certificate that it issues exists. */
async function hasIssued({ plan, store }: Run, authority: string): Promise<boolean> {
  for (const each of plan.certificates)
    if (each.authority === authority && (await store.read(each.name)) !== undefined) return true;
  return false;
}

function createOrRefuse({ options }: Run, name: string, existed: boolean, make: () => Bundle): Change {
  if (options.replace?.includes(name) === true) return { reason: 'replaced', make };
  if (existed)
    return refuse(
      `missing, but it existed before; restore it from a backup, or create a new one by --replace=${name}`,
    );
  if (options.isRenewal === true)
    return refuse(
      'missing, and a renewal creates no authority or key; restore it, or run without --renew-only',
    );
  return { reason: 'missing', make };
}

function refuse(reason: string): Change {
  return { reason, make: undefined };
}

async function ensureCertificate(
  { store, clock }: Run,
  plan: CertificatePlan,
  authorities: ReadonlyMap<string, KeyedCertificate>,
): Promise<EnsuredBundle> {
  const authority = authorities.get(plan.authority);
  if (authority === undefined)
    return { name: plan.name, action: 'refused', reason: `its authority "${plan.authority}" is not usable` };
  const { bundle: _bundle, ...result } = await ensureBundle(store, plan.name, (before) => {
    const reason = findReasonToIssue(plan, before, authority, clock);
    if (reason === undefined) return undefined;
    return { reason, make: () => toBundle(issueCertificate(authority, { ...plan, clock }), authority) };
  });
  if (result.action === 'renewed' && plan.restart !== undefined) await store.restart(plan.restart);
  return result;
}

/** Applies a change with optimistic concurrency: `change` is evaluated again when another writer changed the bundle. */
async function ensureBundle(
  store: BundleStore,
  name: string,
  change: (before: Bundle | undefined) => Change | undefined,
): Promise<EnsuredBundle & { readonly bundle: Bundle }> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const before = await store.read(name);
    const wanted = change(before);
    if (wanted === undefined) return { name, action: 'kept', reason: '', bundle: before ?? {} };
    const { reason, make } = wanted;
    if (make === undefined) return { name, action: 'refused', reason, bundle: {} };
    const bundle = make();
    if (await store.write(name, bundle))
      return { name, action: before === undefined ? 'made' : 'renewed', reason, bundle };
  }
  throw new Error(`other writers changed "${name}" ${String(ATTEMPTS_MAX)} times; run this again`);
}

function findReasonToIssue(
  plan: CertificatePlan,
  bundle: Bundle | undefined,
  authority: KeyedCertificate,
  clock: Clock,
): string | undefined {
  if (bundle === undefined) return 'missing';
  const pem = bundle[BUNDLE_FILE.certificate];
  const key = bundle[BUNDLE_FILE.key];
  if (pem === undefined || key === undefined) return 'incomplete';
  const certificate = parseCertificate(pem);
  const privateKey = parsePrivateKey(key);
  if (certificate === undefined || privateKey === undefined)
    return `${certificate === undefined ? BUNDLE_FILE.certificate : BUNDLE_FILE.key} cannot be parsed`;
  const issuer = new X509Certificate(authority.certificatePem);
  if (!certificate.checkPrivateKey(privateKey)) return 'the key belongs to another certificate';
  if (!certificate.verify(issuer.publicKey)) return 'the authority has changed';
  if (!hasSameHosts(plan.hosts, certificate.subjectAltName)) return 'the hosts have changed';
  if (certificate.subject !== formatSubject(plan)) return 'the subject has changed';
  const leftMs = Date.parse(certificate.validTo) - clock.now();
  if (leftMs * 3 < plan.validDays * DAY_MS)
    return `${String(Math.max(0, Math.floor(leftMs / DAY_MS)))} days left`;
  return undefined;
}

/** Returns undefined for a text that is no certificate. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function hasSameHosts(planned: readonly string[], names: string | undefined): boolean {
  const present = (names ?? '').split(', ').filter((each) => each !== '');
  const hosts = new Set(present.map((each) => normalizeHost(each.slice(each.indexOf(':') + 1))));
  const wanted = new Set(planned.map(normalizeHost));
  return hosts.size === wanted.size && [...wanted].every((host) => hosts.has(host));
}

/** Node prints IPv6 addresses of certificates in full and in capitals; URLs have one spelling for each address. */
function normalizeHost(host: string): string {
  return isIPv6(host) ? new URL(`http://[${host}]`).hostname : host;
}

/** The format of `X509Certificate.subject`. */
function formatSubject({ organizations, commonName }: CertificatePlan): string {
  return [...organizations.map((each) => `O=${each}`), `CN=${commonName}`].join('\n');
}

function getFingerprints(
  authorities: ReadonlyMap<string, KeyedCertificate>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...authorities].map(([name, { certificatePem }]) => [
      name,
      new X509Certificate(certificatePem).fingerprint256,
    ]),
  );
}

function toKeyedCertificate(bundle: Bundle): KeyedCertificate {
  return {
    certificatePem: bundle[BUNDLE_FILE.certificate] ?? '',
    privateKeyPem: bundle[BUNDLE_FILE.key] ?? '',
  };
}

/** An authority issues itself. */
function toBundle(
  { certificatePem, privateKeyPem }: KeyedCertificate,
  issuer: KeyedCertificate | undefined,
): Bundle {
  return {
    [BUNDLE_FILE.authority]: issuer?.certificatePem ?? certificatePem,
    [BUNDLE_FILE.certificate]: certificatePem,
    [BUNDLE_FILE.key]: privateKeyPem,
  };
}

/** The keys and passwords of a plan: bundles that are created once. */
function listKeys(plan: Plan): readonly { readonly name: string; readonly make: () => Bundle }[] {
  return [
    ...plan.tokenKeys.map((name) => ({ name, make: makeTokenKeyBundle })),
    ...plan.encryptionKeys.map(({ name, resources }) => ({
      name,
      make: () => {
        const { encrypting, reading } = newEncryptionConfigurations(resources);
        return { [BUNDLE_FILE.encrypting]: encrypting, [BUNDLE_FILE.reading]: reading };
      },
    })),
    ...plan.passwords.map((name) => ({
      name,
      // Hexadecimal needs no escapes in a URL.
      make: () => ({ [BUNDLE_FILE.password]: randomBytes(PASSWORD_BYTES).toString('hex') }),
    })),
  ];
}

function makeTokenKeyBundle(): Bundle {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    [BUNDLE_FILE.tokenKey]: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    [BUNDLE_FILE.tokenPublicKey]: createPublicKey(privateKey)
      .export({ type: 'spki', format: 'pem' })
      .toString(),
  };
}
