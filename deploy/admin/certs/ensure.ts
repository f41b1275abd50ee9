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
import type { Bundle, BundleChange, BundleStore, EnsuredBundle } from './bundle-store';
import { BUNDLE_FILE, changeBundle, getTrustedAuthorities, refuse } from './bundle-store';
import type { AuthorityPlan, CertificatePlan, Plan } from './plan';
import type { BundleRecord } from './record';
import { readRecord, updateRecord } from './record';

export interface EnsureOptions {
  /** Never create an authority, a key or a password: a missing one is refused. Certificates are still issued. */
  readonly isRenewal?: boolean;
  /** Bundles that may be created although they existed before, and authorities that may differ from the recorded fingerprint. */
  readonly replace?: readonly string[];
}

/**
 * Creates the bundles of the plan that never existed. Renews certificates in their last third, certificates whose names differ from the plan,
 * and certificates of a replaced authority; writes to certificates which authorities are trusted while one is rotated. Authorities, keys and passwords are never recreated once they existed, because everything that
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
  const authorities = new Map<string, UsableAuthority>();
  for (const each of plan.authorities) {
    const { bundle, ...result } = await ensureAuthority(run, each);
    ensured.push(result);
    if (result.action !== 'refused') authorities.set(each.name, toUsableAuthority(bundle));
  }
  const keys: string[] = [];
  for (const { name, make } of listKeys(plan)) {
    const isKnown = record?.keys.includes(name) === true;
    const { action, reason } = await changeBundle(store, name, (before) =>
      before === undefined ? createOrRefuse(run, name, isKnown, make) : undefined,
    );
    ensured.push({ name, action, reason });
    if (action !== 'refused') keys.push(name);
  }
  await updateRecord(store, plan.record, { fingerprints: getFingerprints(authorities), keys });
  for (const each of plan.certificates) ensured.push(await ensureCertificate(run, each, authorities));
  return ensured;
}

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

/** An authority that signs, and the certificates (PEM) by which programs verify what it signs. */
interface UsableAuthority extends KeyedCertificate {
  readonly trusted: string;
}

async function ensureAuthority(
  run: Run,
  plan: AuthorityPlan,
): Promise<EnsuredBundle & { readonly bundle: Bundle }> {
  const { name } = plan;
  const { store, record, options } = run;
  const recorded = record?.fingerprints[name];
  const existed = recorded !== undefined || (record === undefined && (await hasIssued(run, name)));
  const { action, reason, bundle } = await changeBundle(store, name, (before) => {
    if (before === undefined)
      return createOrRefuse(run, name, existed, () => makeAuthorityBundle(plan, run.clock));
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
    const predecessor = parseCertificate(before[BUNDLE_FILE.previousCertificate] ?? '')?.fingerprint256;
    if (
      recorded === undefined ||
      recorded === fingerprint256 ||
      recorded === predecessor ||
      options.replace?.includes(name) === true
    )
      return undefined;
    return refuse(
      `the authority has another fingerprint than recorded (${recorded}); restore it, or accept the new one by --replace=${name}`,
    );
  });
  return { name, action, reason, bundle };
}

/** For stores without a record: an authority existed if a certificate that it issues exists. */
async function hasIssued({ plan, store }: Run, authority: string): Promise<boolean> {
  for (const each of plan.certificates)
    if (each.authority === authority && (await store.read(each.name)) !== undefined) return true;
  return false;
}

function createOrRefuse({ options }: Run, name: string, existed: boolean, make: () => Bundle): BundleChange {
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

async function ensureCertificate(
  { store, clock }: Run,
  plan: CertificatePlan,
  authorities: ReadonlyMap<string, UsableAuthority>,
): Promise<EnsuredBundle> {
  const { name } = plan;
  const authority = authorities.get(plan.authority);
  if (authority === undefined)
    return { name, action: 'refused', reason: `its authority "${plan.authority}" is not usable` };
  const { action, reason, before, bundle } = await changeBundle(store, name, (current) => {
    const why = findReasonToIssue(plan, current, authority, clock);
    if (why !== undefined)
      return {
        reason: why,
        make: () => toBundle(issueCertificate(authority, { ...plan, clock }), authority.trusted),
      };
    if (current === undefined || current[BUNDLE_FILE.authority] === authority.trusted) return undefined;
    return {
      reason: 'other authorities are trusted',
      make: () => ({ ...current, [BUNDLE_FILE.authority]: authority.trusted }),
    };
  });
  if (action === 'renewed') {
    if (plan.restart !== undefined) await store.restart({ kind: 'Deployment', name: plan.restart });
    if (
      plan.restartForTrust !== undefined &&
      before?.[BUNDLE_FILE.authority] !== bundle[BUNDLE_FILE.authority]
    )
      await store.restart({ kind: 'StatefulSet', name: plan.restartForTrust });
  }
  return { name, action, reason };
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
  authorities: ReadonlyMap<string, UsableAuthority>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...authorities].map(([name, { certificatePem }]) => [
      name,
      new X509Certificate(certificatePem).fingerprint256,
    ]),
  );
}

function toUsableAuthority(bundle: Bundle): UsableAuthority {
  return {
    certificatePem: bundle[BUNDLE_FILE.certificate] ?? '',
    privateKeyPem: bundle[BUNDLE_FILE.key] ?? '',
    trusted: getTrustedAuthorities(bundle),
  };
}

/** Creates an authority, which issues itself. */
export function makeAuthorityBundle(plan: AuthorityPlan, clock: Clock): Bundle {
  const authority = makeCa({ ...plan, clock });
  return toBundle(authority, authority.certificatePem);
}

function toBundle({ certificatePem, privateKeyPem }: KeyedCertificate, trusted: string): Bundle {
  return {
    [BUNDLE_FILE.authority]: trusted,
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
