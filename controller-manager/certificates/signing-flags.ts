const GROUP = 'CSR signing controller';

/** The flags of kube-controller-manager that say with what certificate requests are signed. */
export const SIGNING_FLAGS = [
  {
    name: 'cluster-signing-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) of the authority that signs certificate requests. Without it none are signed. Read again when it changes.',
  },
  {
    name: 'cluster-signing-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of that authority.',
  },
  {
    name: 'cluster-signing-duration',
    type: 'duration',
    default: '8760h',
    group: GROUP,
    help: 'How long signed certificates are good, at most as long as that of the authority.',
  },
  {
    name: 'experimental-cluster-signing-duration',
    type: 'duration',
    default: '0s',
    group: GROUP,
    help: 'Deprecated name of --cluster-signing-duration; comes before it where it is given.',
  },
  {
    name: 'cluster-signing-kube-apiserver-client-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate of an authority for clients of the API server alone. If any signer has its own, those without sign nothing, and --cluster-signing-cert-file must not be given.',
  },
  {
    name: 'cluster-signing-kube-apiserver-client-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key of that authority.',
  },
  {
    name: 'cluster-signing-kubelet-client-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate of an authority for nodes as clients of the API server alone.',
  },
  {
    name: 'cluster-signing-kubelet-client-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key of that authority.',
  },
  {
    name: 'cluster-signing-kubelet-serving-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate of an authority for what nodes serve alone.',
  },
  {
    name: 'cluster-signing-kubelet-serving-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key of that authority.',
  },
  {
    name: 'cluster-signing-legacy-unknown-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate of an authority for old requests that name no signer alone.',
  },
  {
    name: 'cluster-signing-legacy-unknown-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key of that authority.',
  },
] as const;
