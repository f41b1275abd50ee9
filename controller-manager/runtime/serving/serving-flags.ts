const GROUP = 'Secure serving';

/** The serving flags of kube-controller-manager. */
export const SERVING_FLAGS = [
  {
    name: 'secure-port',
    type: 'int',
    default: 10_257,
    min: 0,
    max: 65_535,
    group: GROUP,
    help: 'The port on which to serve /healthz and /metrics over HTTPS. 0 disables serving; if the default port is already in use, serving is disabled too.',
  },
  {
    name: 'bind-address',
    type: 'string',
    default: '0.0.0.0',
    group: GROUP,
    help: 'The IP address on which to listen for --secure-port.',
  },
  {
    name: 'tls-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The serving certificate (PEM), followed by its intermediate certificates. Reloaded when the file changes. If empty, a self-signed certificate is generated at each start.',
  },
  {
    name: 'tls-private-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of --tls-cert-file.',
  },
  {
    name: 'authorization-always-allow-paths',
    type: 'stringList',
    default: ['/healthz', '/readyz', '/livez'],
    group: GROUP,
    help: 'Paths that anyone may read without authorization; a * at the end matches any suffix. For other paths the bearer token is authenticated and access is authorized by the API server.',
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

/** Returns the problems of the flag values, before any file is read. */
export function servingProblems({ tlsCertFile, tlsPrivateKeyFile }: ServingFlags): readonly string[] {
  return (tlsCertFile === '') === (tlsPrivateKeyFile === '')
    ? []
    : ['--tls-cert-file and --tls-private-key-file must be given together'];
}
