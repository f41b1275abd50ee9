const GROUP = 'Secure serving';

/** The flags of kube-controller-manager that say where and to whom the process tells of itself. */
export const SERVING_FLAGS = [
  {
    name: 'secure-port',
    type: 'int',
    default: 10_257,
    min: 0,
    max: 65_535,
    group: GROUP,
    help: 'The port at which /healthz and /metrics are served over TLS. 0 serves neither, nor does the default where another process has it.',
  },
  {
    name: 'bind-address',
    type: 'string',
    default: '0.0.0.0',
    group: GROUP,
    help: 'The address at which that port is bound.',
  },
  {
    name: 'tls-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) that is served with, followed by its chain. Read again when it changes. Without it a self-signed one is made at each start.',
  },
  {
    name: 'tls-private-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of that certificate.',
  },
  {
    name: 'authorization-always-allow-paths',
    type: 'stringList',
    default: ['/healthz'],
    group: GROUP,
    help: 'Paths that everybody may read; a * at the end stands for whatever follows. For all others the API server is asked whose bearer token it is, and whether they may get the path.',
  },
] as const;

/** The values of these flags. */
export interface ServingFlags {
  readonly securePort: number;
  readonly bindAddress: string;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly authorizationAlwaysAllowPaths: readonly string[];
}

/** What is wrong with the flags, before any file is read. */
export function servingProblems({ tlsCertFile, tlsPrivateKeyFile }: ServingFlags): readonly string[] {
  return (tlsCertFile === '') === (tlsPrivateKeyFile === '')
    ? []
    : ['--tls-cert-file and --tls-private-key-file go together'];
}
