import { existsSync } from 'node:fs';
import path from 'node:path';
import { issueCertificate, makeCa } from '../../shared/certs/certificate';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeDirectory } from '../../shared/files/make-directory';

/** PEM files for mutual TLS between the members of a local etcd and their clients. */
export interface EtcdCertificateFiles {
  readonly caFile: string;
  /** The certificate of the members, for serving and for peer connections. */
  readonly certFile: string;
  readonly keyFile: string;
  /** The client certificate of the API servers. */
  readonly client: { readonly certFile: string; readonly keyFile: string };
}

const VALID_DAYS = 3_650;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;
const HOSTS: readonly string[] = ['127.0.0.1', 'localhost'];

/**
 * Returns the certificates in `dir`, and creates them at the first start. The key of their authority is not kept, so that only these certificates
 * give access to etcd.
 */
export function ensureEtcdCertificates(dir: string): EtcdCertificateFiles {
  const at = (name: string): string => path.join(dir, name);
  const files = {
    caFile: at('ca.crt'),
    certFile: at('member.crt'),
    keyFile: at('member.key'),
    client: { certFile: at('client.crt'), keyFile: at('client.key') },
  };
  // Written last.
  if (existsSync(files.caFile)) return files;
  makeDirectory(dir, 0o700);
  const ca = makeCa({ commonName: 'orch-etcd-ca', validDays: VALID_DAYS });
  const issued = [
    { files, commonName: 'etcd', usages: ['server', 'client'] },
    { files: files.client, commonName: 'apiserver', usages: ['client'] },
  ] as const;
  for (const { files: own, commonName, usages } of issued) {
    const hosts = usages.length > 1 ? HOSTS : [];
    const made = issueCertificate(ca, { commonName, hosts, usages, validDays: VALID_DAYS });
    writeFileAtomically(own.keyFile, made.privateKeyPem, PRIVATE_MODE);
    writeFileAtomically(own.certFile, made.certificatePem, PUBLIC_MODE);
  }
  writeFileAtomically(files.caFile, ca.certificatePem, PUBLIC_MODE);
  return files;
}
