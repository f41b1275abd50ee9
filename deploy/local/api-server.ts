import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { reachableAddress } from '../../shared/certs/serving-hosts';
import { defined } from '../../shared/defined';
import type { Dialect } from '../../shared/names';
import type { Credentials } from './credentials';
import { LOOPBACK } from './ports';
import { programPath } from './repository';
import type { StartedProcess } from './started-process';
import type { EtcdCertificateFiles } from './etcd-certificates';
import { startProcess } from './started-process';

export type StorageChoice =
  | { readonly kind: 'embedded'; readonly dir: string }
  | {
      readonly kind: 'etcd';
      readonly endpoints: readonly string[];
      /** Absent: etcd without TLS. */
      readonly tls?: EtcdClientTls | undefined;
    };

type EtcdClientTls = Pick<EtcdCertificateFiles, 'caFile' | 'client'>;

export interface ApiServerOptions {
  readonly name: string;
  /** The IP address of the listener; by default the loopback address. */
  readonly listen?: string;
  readonly port: number;
  readonly dialect: Dialect;
  readonly storage: StorageChoice;
  /** The folder of the serving certificate, which is created at the first start. Replicas of one set share it. */
  readonly certDir: string;
  readonly credentials: Credentials;
  /** The time from SIGTERM until the listener closes, as a Go duration. */
  readonly shutdownDelay?: string;
  readonly extraArgs?: readonly string[];
  /** The folder of the build to run; by default this repository. */
  readonly buildRoot?: string;
  /** The compiled program; by default the one of the build. */
  readonly program?: string;
  /** Node flags in addition to {@link nodeFlagsFor}. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** Node's default number of helper threads for garbage collection. */
const HELPERS_MAX = 4;

/**
 * Returns the Node flags for this number of cores. Half of the default young generation saves memory at rest; a quarter delays watch events.
 * There are no more helper threads than free cores, because the main thread waits in each collection for helpers without a core.
 */
export function nodeFlagsFor(cores: number): readonly string[] {
  const helpers = Math.min(HELPERS_MAX, Math.max(1, cores - 1));
  return ['--max-semi-space-size=8', `--v8-pool-size=${String(helpers)}`];
}

/** Starts one API server. Wait for it with `waitUntilReady`. */
export async function startApiServer(options: ApiServerOptions): Promise<StartedProcess> {
  return startProcess({
    name: options.name,
    command: process.execPath,
    args: [
      ...nodeFlagsFor(availableParallelism()),
      ...(options.nodeFlags ?? []),
      options.program ?? programPath('apiserver', options.buildRoot),
      ...storageFlags(options.storage),
      `--dialect=${options.dialect}`,
      `--bind-address=${options.listen ?? LOOPBACK}`,
      `--secure-port=${String(options.port)}`,
      `--cert-dir=${options.certDir}`,
      `--token-auth-file=${options.credentials.tokenFile}`,
      `--service-account-signing-key-file=${options.credentials.serviceAccountKeyFile}`,
      `--client-ca-file=${options.credentials.signingAuthority.certFile}`,
      '--authorization-mode=RBAC',
      '--enable-bootstrap-token-auth=true',
      // Usual clusters set this, because network plugins and storage drivers need it.
      '--allow-privileged=true',
      `--shutdown-delay-duration=${options.shutdownDelay ?? '0s'}`,
      ...(options.extraArgs ?? []),
    ],
    ...defined({ env: options.env, onLine: options.onLine }),
  });
}

/** The file of the authority of a self-signed serving certificate in `certDir`. */
export function caFileOf(certDir: string): string {
  return path.join(certDir, 'ca.crt');
}

/** The URL of a server that listens on an address. Where that is every address of the machine, it has one that other machines can reach. */
export function serverUrl(port: number, listen: string = LOOPBACK): string {
  return `https://${addressWithPort(listen, port)}`;
}

/** `192.0.2.1:6443` or `[2001:db8::1]:6443`, as {@link serverUrl} has it. */
export function addressWithPort(listen: string, port: number): string {
  const host = reachableAddress(listen);
  return `${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
}

function storageFlags(storage: StorageChoice): readonly string[] {
  return storage.kind === 'embedded'
    ? ['--storage-backend=embedded', `--embedded-dir=${storage.dir}`]
    : ['--storage-backend=etcd3', `--etcd-servers=${storage.endpoints.join(',')}`, ...tlsFlags(storage.tls)];
}

function tlsFlags(tls: EtcdClientTls | undefined): readonly string[] {
  if (tls === undefined) return [];
  const { caFile, client } = tls;
  return [
    `--etcd-cafile=${caFile}`,
    `--etcd-certfile=${client.certFile}`,
    `--etcd-keyfile=${client.keyFile}`,
  ];
}
