import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isIP } from 'node:net';
import type { Clock } from '../concurrency/clock';
import { systemClock } from '../concurrency/clock';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import { writeFileAtomically } from '../files/atomic-file';
import type { KeyedCertificate } from './certificate';
import { issueCertificate, makeCa } from './certificate';
import { ipBytes } from '../meta/ip-address';
import { makeDirectory } from '../files/make-directory';

export interface ServingCertificateOptions {
  /** Where the files are; made with mode 0700 when it is missing. */
  readonly dir: string;
  /** DNS names and IP addresses under which clients reach the server. */
  readonly hosts: readonly string[];
  readonly log?: Log;
  readonly clock?: Clock;
}

export interface ServingCertificateFiles {
  /** The leaf, followed by the authority. */
  readonly certFile: string;
  readonly keyFile: string;
  /** What clients have to trust. */
  readonly caFile: string;
}

const LEAF_VALID_DAYS = 365;
const CA_VALID_DAYS = 3_650;
/** Remaining validity below which a certificate is renewed at start. */
const REMAINING_MS_MIN = 30 * 86_400_000;
/** Of hosts that are not the server's own, which come together as its address changes. */
const OTHER_HOSTS_MAX = 32;
const DIRECTORY_MODE = 0o700;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

/**
 * Makes the server's own certificate on the first start and reuses it on later ones: `apiserver.crt`, `apiserver.key`, and the
 * authority behind them in `ca.crt` and `ca.key`. The leaf is re-made when it is missing, unreadable, about to expire, not signed by
 * the authority, or lacks one of the hosts; the hosts it had stay, as they may be those of a replica over the same directory. The
 * authority is kept whenever it can be, so that clients that trust it go on.
 */
export function ensureServingCertificate(options: ServingCertificateOptions): ServingCertificateFiles {
  const { dir, hosts, log = silentLog, clock = systemClock } = options;
  const files = {
    certFile: path.join(dir, 'apiserver.crt'),
    keyFile: path.join(dir, 'apiserver.key'),
    caFile: path.join(dir, 'ca.crt'),
  };
  const caKeyFile = path.join(dir, 'ca.key');
  makeDirectory(dir, DIRECTORY_MODE);

  const oldCa = read(files.caFile, caKeyFile);
  const caFault = faultOf(oldCa, clock);
  const ca =
    oldCa !== undefined && caFault === undefined
      ? oldCa
      : makeCa({
          commonName: `orch-ca@${String(Math.floor(clock.now() / 1_000))}`,
          validDays: CA_VALID_DAYS,
          clock,
        });
  if (caFault !== undefined) {
    log.info(
      { file: files.caFile, reason: caFault },
      'creating a self-signed CA for the serving certificate',
    );
    writeFileAtomically(caKeyFile, ca.privateKeyPem, PRIVATE_MODE);
    writeFileAtomically(files.caFile, ca.certificatePem, PUBLIC_MODE);
  }

  const oldLeaf = read(files.certFile, files.keyFile);
  const leafFault = faultOf(oldLeaf, clock) ?? leafFaultOf(oldLeaf, ca, hosts);
  if (leafFault !== undefined) {
    const all = [...hosts, ...otherHostsOf(oldLeaf, hosts)];
    log.info(
      { file: files.certFile, reason: leafFault, hosts: all },
      'creating a self-signed serving certificate',
    );
    const leaf = issueCertificate(ca, {
      commonName: 'orch-apiserver',
      hosts: all,
      usages: ['server'],
      validDays: LEAF_VALID_DAYS,
      clock,
    });
    writeFileAtomically(files.keyFile, leaf.privateKeyPem, PRIVATE_MODE);
    writeFileAtomically(files.certFile, leaf.certificatePem + ca.certificatePem, PUBLIC_MODE);
  }
  return files;
}

/** The pair as it is on disk, or undefined when one of the two cannot be read. */
function read(certFile: string, keyFile: string): KeyedCertificate | undefined {
  try {
    return { certificatePem: readFileSync(certFile, 'utf8'), privateKeyPem: readFileSync(keyFile, 'utf8') };
  } catch {
    return undefined;
  }
}

/** Why a pair cannot be used any more, in a few words; undefined when it can. */
function faultOf(pair: KeyedCertificate | undefined, clock: Clock): string | undefined {
  if (pair === undefined) return 'there is none yet';
  try {
    const certificate = new X509Certificate(pair.certificatePem);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.privateKeyPem)))
      return 'certificate and key do not belong together';
    if (Date.parse(certificate.validTo) - clock.now() < REMAINING_MS_MIN)
      return `it expires at ${certificate.validTo}`;
    return undefined;
  } catch {
    return 'it cannot be parsed';
  }
}

function leafFaultOf(
  pair: KeyedCertificate | undefined,
  ca: KeyedCertificate,
  hosts: readonly string[],
): string | undefined {
  if (pair === undefined) return undefined;
  const certificate = new X509Certificate(pair.certificatePem);
  const authority = new X509Certificate(ca.certificatePem);
  if (!certificate.verify(authority.publicKey)) return 'it is signed by another authority';
  const missing = hosts.filter((host) =>
    isIP(host) === 0 ? certificate.checkHost(host) === undefined : certificate.checkIP(host) === undefined,
  );
  return missing.length === 0 ? undefined : `it lacks ${missing.join(', ')}`;
}

/** The hosts of a leaf that are not among `own`; none of a leaf that cannot be read. */
function otherHostsOf(pair: KeyedCertificate | undefined, own: readonly string[]): readonly string[] {
  const known = new Set(own.map(hostKey));
  return subjectAltNamesOf(pair)
    .filter((host) => !known.has(hostKey(host)))
    .slice(0, OTHER_HOSTS_MAX);
}

function subjectAltNamesOf(pair: KeyedCertificate | undefined): readonly string[] {
  if (pair === undefined) return [];
  try {
    const { subjectAltName = '' } = new X509Certificate(pair.certificatePem);
    return subjectAltName
      .split(', ')
      .flatMap((name) => /^(?:DNS|IP Address):([\w.:*-]+)$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}

/** The same for every spelling of a host. */
function hostKey(host: string): string {
  return isIP(host) === 0 ? host.toLowerCase() : ipBytes(host).toString('hex');
}
