import { defined } from '../../shared/defined';
import type { Dialect } from '../../shared/names';
import type { Credentials } from './credentials';
import { LOOPBACK } from './ports';
import { programPath } from './repository';
import type { StartedProcess } from './started-process';
import { startProcess } from './started-process';

export interface ControllerManagerOptions {
  readonly name: string;
  readonly kubeconfig: string;
  readonly credentials: Pick<Credentials, 'signingAuthority'>;
  readonly dialect: Dialect;
  /** The value of `--controllers`; by default all, with the bootstrap tokens for joining nodes of usual clusters. */
  readonly controllers?: string | undefined;
  /** The loopback port of `/healthz` and `/metrics`; by default they are not served. */
  readonly securePort?: number;
  readonly extraArgs?: readonly string[];
  /** Node flags and environment variables of its process. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** Starts one controller-manager; of several in one set, one leads at a time. */
export async function startControllerManager(options: ControllerManagerOptions): Promise<StartedProcess> {
  return startProcess({
    name: options.name,
    command: process.execPath,
    args: [
      ...(options.nodeFlags ?? []),
      programPath('controller-manager'),
      `--kubeconfig=${options.kubeconfig}`,
      '--leader-elect=true',
      '--use-service-account-credentials=true',
      `--controllers=${options.controllers ?? '*,bootstrapsigner,tokencleaner'}`,
      `--cluster-signing-cert-file=${options.credentials.signingAuthority.certFile}`,
      `--cluster-signing-key-file=${options.credentials.signingAuthority.keyFile}`,
      `--dialect=${options.dialect}`,
      `--bind-address=${LOOPBACK}`,
      `--secure-port=${String(options.securePort ?? 0)}`,
      ...(options.extraArgs ?? []),
    ],
    ...defined({ env: options.env, onLine: options.onLine }),
  });
}
