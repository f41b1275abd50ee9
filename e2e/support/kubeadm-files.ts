import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { IssueOptions, KeyedCertificate } from '../../shared/certs/certificate';
import { issueCertificate, makeCa } from '../../shared/certs/certificate';

/** The files of kubeadm in `/etc/kubernetes` for a control plane on one machine. */
export interface KubeadmFiles {
  /** The folder in place of `/etc/kubernetes`. */
  readonly dir: string;
  /** The certificate authority that clients trust, PEM. */
  readonly ca: string;
  /** A client certificate of the cluster authority. */
  client(commonName: string, organizations?: readonly string[]): KeyedCertificate;
  /** The client certificate of the front proxy, of its own authority. */
  readonly frontProxy: KeyedCertificate;
}

const VALID_DAYS = 365;
const SERVER_HOSTS = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '10.96.0.1',
  '10.0.0.1',
  '127.0.0.1',
  'localhost',
];
const RSA_BITS = 2_048;

/** Writes certificates, keys and the kubeconfigs of the administrator and of the controller-manager under kubeadm's names, for an API server at this address. */
export function writeKubeadmFiles(dir: string, server: string): KubeadmFiles {
  const pki = path.join(dir, 'pki');
  mkdirSync(path.join(pki, 'etcd'), { recursive: true });
  const write = (name: string, { certificatePem, privateKeyPem }: KeyedCertificate): void => {
    writeFileSync(path.join(pki, `${name}.crt`), certificatePem);
    writeFileSync(path.join(pki, `${name}.key`), privateKeyPem, { mode: 0o600 });
  };
  const authority = (name: string, commonName: string): KeyedCertificate => {
    const made = makeCa({ commonName, validDays: VALID_DAYS });
    write(name, made);
    return made;
  };
  const issue = (by: KeyedCertificate, options: Omit<IssueOptions, 'validDays'>): KeyedCertificate =>
    issueCertificate(by, { ...options, validDays: VALID_DAYS });

  const ca = authority('ca', 'kubernetes');
  const etcd = authority('etcd/ca', 'etcd-ca');
  const front = authority('front-proxy-ca', 'front-proxy-ca');
  const frontProxy = issue(front, { commonName: 'front-proxy-client', usages: ['client'] });
  const masters = ['system:masters'];
  const client = (commonName: string, organizations: readonly string[] = []): KeyedCertificate =>
    issue(ca, { commonName, organizations, usages: ['client'] });
  write('apiserver', issue(ca, { commonName: 'kube-apiserver', hosts: SERVER_HOSTS, usages: ['server'] }));
  write('apiserver-kubelet-client', client('kube-apiserver-kubelet-client', masters));
  const etcdClient = { commonName: 'kube-apiserver-etcd-client', organizations: masters };
  write('apiserver-etcd-client', issue(etcd, { ...etcdClient, usages: ['client'] }));
  const etcdServer = { commonName: 'localhost', hosts: ['127.0.0.1', 'localhost'] };
  write('etcd/server', issue(etcd, { ...etcdServer, usages: ['server', 'client'] }));
  write('front-proxy-client', frontProxy);
  writeAccountKeys(pki);
  for (const [file, user, groups] of [
    ['controller-manager.conf', 'system:kube-controller-manager', []],
    ['admin.conf', 'kubernetes-admin', masters],
  ] as const)
    writeFileSync(path.join(dir, file), kubeconfig({ server, ca, user, own: client(user, groups) }));
  return { dir, ca: ca.certificatePem, client, frontProxy };
}

/** An RSA key pair with a PKCS #1 private key, as kubeadm creates. */
function writeAccountKeys(pki: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: RSA_BITS,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeFileSync(path.join(pki, 'sa.key'), privateKey, { mode: 0o600 });
  writeFileSync(path.join(pki, 'sa.pub'), publicKey);
}

interface Kubeconfig {
  readonly server: string;
  readonly ca: KeyedCertificate;
  readonly user: string;
  readonly own: KeyedCertificate;
}

function kubeconfig({ server, ca, user, own }: Kubeconfig): string {
  const encoded = (pem: string): string => Buffer.from(pem).toString('base64');
  const context = `${user}@kubernetes`;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'kubernetes', cluster: { server, 'certificate-authority-data': encoded(ca.certificatePem) } },
    ],
    users: [
      {
        name: user,
        user: {
          'client-certificate-data': encoded(own.certificatePem),
          'client-key-data': encoded(own.privateKeyPem),
        },
      },
    ],
    contexts: [{ name: context, context: { cluster: 'kubernetes', user } }],
    'current-context': context,
  });
}
