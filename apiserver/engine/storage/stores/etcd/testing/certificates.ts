import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import type { KeyedCertificate } from '../../../../../../shared/certs/certificate';
import { issueCertificate, makeCa } from '../../../../../../shared/certs/certificate';

/** Paths of PEM files. */
export interface TestCertificates {
  readonly server: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  readonly client: { readonly certFile: string; readonly keyFile: string };
  /** A client of another authority. */
  readonly stranger: { readonly certFile: string; readonly keyFile: string };
}

/** Two authorities, a server's certificate for 127.0.0.1, a client's, and one of the other authority, as files in `folder`. */
export async function makeCertificates(folder: string): Promise<TestCertificates> {
  const ours = makeCa({ commonName: 'ours', validDays: 1 });
  const theirs = makeCa({ commonName: 'theirs', validDays: 1 });
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, ours.certificatePem);
  return {
    server: { caFile, ...(await issue(ours, 'server', folder)) },
    client: await issue(ours, 'client', folder),
    stranger: await issue(theirs, 'stranger', folder),
  };
}

async function issue(
  authority: KeyedCertificate,
  commonName: string,
  folder: string,
): Promise<{ certFile: string; keyFile: string }> {
  const made = issueCertificate(authority, {
    commonName,
    hosts: ['127.0.0.1'],
    usages: ['server', 'client'],
    validDays: 1,
  });
  const certFile = path.join(folder, `${commonName}.pem`);
  const keyFile = path.join(folder, `${commonName}-key.pem`);
  await writeFile(certFile, made.certificatePem);
  await writeFile(keyFile, made.privateKeyPem);
  return { certFile, keyFile };
}
