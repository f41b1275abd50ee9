import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { KeyedCertificate } from '../../shared/certs/certificate';
import { issueCertificate, makeCa } from '../../shared/certs/certificate';
import { KUBELET_CLIENT_USER } from '../../shared/client/cluster-info';
import { newEncryptionConfigurations } from '../../shared/encryption-configuration';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeDirectory } from '../../shared/files/make-directory';
import type { Credentials } from './credentials';

/** Flags for what the programs of a set do beyond answering requests. */
export interface Duties {
  /** Encrypts Secrets, and shows itself to node agents and to extension API servers. */
  readonly apiServer: readonly string[];
  /** Keeps tokens of service accounts in Secrets. */
  readonly controllerManager: readonly string[];
}

/**
 * Throws when the store below `storeDir` has data, but a key without which it cannot be read or its tokens cannot be verified is gone from
 * `dir`. A new key in its place would hide the loss.
 */
export function assertKeysOfStore(dir: string, storeDir: string): void {
  if (!existsSync(storeDir) || readdirSync(storeDir).length === 0) return;
  const missing = Object.entries(KEYS_OF_STORE).filter(([file]) => !existsSync(path.join(dir, file)));
  if (missing.length === 0) return;
  const files = missing.map(([file, use]) => `${path.join(dir, file)} (${use})`).join(', ');
  throw new Error(
    `the store ${storeDir} has data, but its keys are missing: ${files}. Restore these files from a backup of ${dir}, or move ${storeDir} away to start with an empty store.`,
  );
}

/** What each file is for, by its place below the data directory. */
const KEYS_OF_STORE = {
  'own-certs/encryption.yaml': 'decrypts Secrets',
  'service-account.key': 'signs tokens of service accounts',
  'signing-ca.key': 'signs certificates of clients',
  'signing-ca.crt': 'verifies certificates of clients',
} as const;

/**
 * The flags, with the files that they name: below `dir`, made at the first start, and readable to this user only where they are secret. What was
 * stored before there was a key stays readable.
 */
export function ensureDuties(
  dir: string,
  {
    signingAuthority,
    serviceAccountKeyFile,
  }: Pick<Credentials, 'signingAuthority' | 'serviceAccountKeyFile'>,
): Duties {
  const own = path.join(dir, 'own-certs');
  makeDirectory(own, 0o700);
  const at = (name: string): string => path.join(own, name);
  const frontProxyCa = at('front-proxy-ca.crt');
  once(frontProxyCa, () => {
    const ca = makeCa({ commonName: 'orch-front-proxy-ca', validDays: VALID_DAYS });
    // The key of this authority is not kept: it signs this certificate only.
    writeIssued(ca, at(FRONT_PROXY), FRONT_PROXY);
    writeFileAtomically(frontProxyCa, ca.certificatePem, PUBLIC_MODE);
  });
  const kubeletClient = `${at(KUBELET_CLIENT)}.crt`;
  // Earlier versions issued a superuser's certificate, which an address that passes for a kubelet could use against the API server.
  if (!existsSync(kubeletClient) || !hasSubject(kubeletClient, `CN=${KUBELET_CLIENT_USER}`)) {
    const ca = {
      certificatePem: readFileSync(signingAuthority.certFile, 'utf8'),
      privateKeyPem: readFileSync(signingAuthority.keyFile, 'utf8'),
    };
    writeIssued(ca, at(KUBELET_CLIENT), KUBELET_CLIENT_USER);
  }
  const encryption = at('encryption.yaml');
  once(encryption, () =>
    writeFileAtomically(encryption, newEncryptionConfigurations(['secrets']).encrypting, PRIVATE_MODE),
  );
  return {
    apiServer: [
      `--encryption-provider-config=${encryption}`,
      `--requestheader-client-ca-file=${frontProxyCa}`,
      `--requestheader-allowed-names=${FRONT_PROXY}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${at(FRONT_PROXY)}.crt`,
      `--proxy-client-key-file=${at(FRONT_PROXY)}.key`,
      `--kubelet-client-certificate=${at(KUBELET_CLIENT)}.crt`,
      `--kubelet-client-key=${at(KUBELET_CLIENT)}.key`,
    ],
    controllerManager: [`--service-account-private-key-file=${serviceAccountKeyFile}`],
  };
}

const FRONT_PROXY = 'front-proxy-client';
const KUBELET_CLIENT = 'kubelet-client';
const VALID_DAYS = 3_650;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

/** Runs `make`, which writes the file last, where it is not there. */
function once(file: string, make: () => void): void {
  if (!existsSync(file)) make();
}

function hasSubject(file: string, subject: string): boolean {
  return new X509Certificate(readFileSync(file)).subject === subject;
}

function writeIssued(ca: KeyedCertificate, file: string, commonName: string): void {
  const made = issueCertificate(ca, { commonName, usages: ['client'], validDays: VALID_DAYS });
  writeFileAtomically(`${file}.key`, made.privateKeyPem, PRIVATE_MODE);
  writeFileAtomically(`${file}.crt`, made.certificatePem, PUBLIC_MODE);
}
