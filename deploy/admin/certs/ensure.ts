import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import type { KeyedCertificate } from '../../../shared/certs/certificate';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import type { Clock } from '../../../shared/concurrency/clock';
import { newEncryptionConfigurations } from '../../../shared/encryption-configuration';
import type { Bundle, BundleStore } from './bundle-store';
import { BUNDLE_FILE } from './bundle-store';
import type { CertificatePlan, Plan } from './plan';

/** What was done with one bundle, and why. */
export interface EnsuredBundle {
  readonly name: string;
  readonly action: 'kept' | 'made' | 'renewed';
  readonly reason: string;
}

/**
 * Makes the bundles of the plan that are missing, and renews certificates whose last third has begun, whose names are not those of the plan, or
 * whose authority is another one. Authorities, keys and passwords are never replaced: what was signed or encrypted by them would be worthless.
 */
export async function ensureBundles(
  plan: Plan,
  store: BundleStore,
  clock: Clock,
): Promise<readonly EnsuredBundle[]> {
  const ensured: EnsuredBundle[] = [];
  const authorities = new Map<string, KeyedCertificate>();
  for (const each of plan.authorities) {
    const make = (): Bundle => authorityBundle(makeCa({ ...each, clock }));
    const { bundle, ...done } = await keep(store, each.name, (before) =>
      before === undefined ? { reason: 'missing', make } : undefined,
    );
    ensured.push(done);
    authorities.set(each.name, keyed(each.name, bundle));
  }
  for (const { name, make } of madeOnce(plan)) {
    const { bundle: _bundle, ...done } = await keep(store, name, (before) =>
      before === undefined ? { reason: 'missing', make } : undefined,
    );
    ensured.push(done);
  }
  for (const each of plan.certificates) {
    const authority = authorities.get(each.authority);
    if (authority === undefined) throw new Error(`there is no authority "${each.authority}"`);
    const make = (): Bundle => certificateBundle(authority, issueCertificate(authority, { ...each, clock }));
    const { bundle: _bundle, ...done } = await keep(store, each.name, (before) => {
      const reason = reasonToIssue(each, before, authority, clock);
      return reason === undefined ? undefined : { reason, make };
    });
    ensured.push(done);
    if (done.action === 'renewed' && each.restart !== undefined) await store.restart(each.restart);
  }
  return ensured;
}

const TRIES_MAX = 5;
const DAY_MS = 86_400_000;
const PASSWORD_BYTES = 24;

interface Change {
  readonly reason: string;
  readonly make: () => Bundle;
}

async function keep(
  store: BundleStore,
  name: string,
  change: (before: Bundle | undefined) => Change | undefined,
): Promise<EnsuredBundle & { readonly bundle: Bundle }> {
  for (let attempt = 1; attempt <= TRIES_MAX; attempt++) {
    const before = await store.read(name);
    const wanted = change(before);
    if (wanted === undefined) return { name, action: 'kept', reason: '', bundle: before ?? {} };
    const bundle = wanted.make();
    if (await store.write(name, bundle))
      return { name, action: before === undefined ? 'made' : 'renewed', reason: wanted.reason, bundle };
  }
  throw new Error(`"${name}" was changed by somebody else ${String(TRIES_MAX)} times`);
}

function reasonToIssue(
  plan: CertificatePlan,
  bundle: Bundle | undefined,
  authority: KeyedCertificate,
  clock: Clock,
): string | undefined {
  if (bundle === undefined) return 'missing';
  const pem = bundle[BUNDLE_FILE.certificate];
  const key = bundle[BUNDLE_FILE.key];
  if (pem === undefined || key === undefined) return 'incomplete';
  const certificate = new X509Certificate(pem);
  const issuer = new X509Certificate(authority.certificatePem);
  if (!certificate.checkPrivateKey(createPrivateKey(key))) return 'the key is another one';
  if (!certificate.verify(issuer.publicKey)) return 'the authority is another one';
  if (!sameHosts(plan.hosts, certificate.subjectAltName)) return 'the hosts have changed';
  if (certificate.subject !== subjectOf(plan)) return 'the subject has changed';
  const leftMs = Date.parse(certificate.validTo) - clock.now();
  if (leftMs * 3 < plan.validDays * DAY_MS)
    return `${String(Math.max(0, Math.floor(leftMs / DAY_MS)))} days left`;
  return undefined;
}

function sameHosts(planned: readonly string[], names: string | undefined): boolean {
  const present = (names ?? '').split(', ').filter((each) => each !== '');
  const hosts = new Set(present.map((each) => each.slice(each.indexOf(':') + 1)));
  return hosts.size === new Set(planned).size && planned.every((host) => hosts.has(host));
}

/** As Node prints a subject. */
function subjectOf({ organizations, commonName }: CertificatePlan): string {
  return [...organizations.map((each) => `O=${each}`), `CN=${commonName}`].join('\n');
}

function keyed(name: string, bundle: Bundle): KeyedCertificate {
  const certificatePem = bundle[BUNDLE_FILE.certificate];
  const privateKeyPem = bundle[BUNDLE_FILE.key];
  if (certificatePem === undefined || privateKeyPem === undefined)
    throw new Error(`the authority "${name}" has no ${BUNDLE_FILE.certificate} or no ${BUNDLE_FILE.key}`);
  return { certificatePem, privateKeyPem };
}

function authorityBundle({ certificatePem, privateKeyPem }: KeyedCertificate): Bundle {
  return certificateBundle({ certificatePem }, { certificatePem, privateKeyPem });
}

function certificateBundle(
  authority: Pick<KeyedCertificate, 'certificatePem'>,
  { certificatePem, privateKeyPem }: KeyedCertificate,
): Bundle {
  return {
    [BUNDLE_FILE.authority]: authority.certificatePem,
    [BUNDLE_FILE.certificate]: certificatePem,
    [BUNDLE_FILE.key]: privateKeyPem,
  };
}

function madeOnce(plan: Plan): readonly { readonly name: string; readonly make: () => Bundle }[] {
  return [
    ...plan.tokenKeys.map((name) => ({ name, make: tokenKeyBundle })),
    ...plan.encryptionKeys.map(({ name, resources }) => ({
      name,
      make: () => {
        const { encrypting, reading } = newEncryptionConfigurations(resources);
        return { [BUNDLE_FILE.encrypting]: encrypting, [BUNDLE_FILE.reading]: reading };
      },
    })),
    ...plan.passwords.map((name) => ({
      name,
      // Hexadecimal, so that it needs no escapes in a URL.
      make: () => ({ [BUNDLE_FILE.password]: randomBytes(PASSWORD_BYTES).toString('hex') }),
    })),
  ];
}

function tokenKeyBundle(): Bundle {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    [BUNDLE_FILE.tokenKey]: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    [BUNDLE_FILE.tokenPublicKey]: createPublicKey(privateKey)
      .export({ type: 'spki', format: 'pem' })
      .toString(),
  };
}
