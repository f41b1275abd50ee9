const GROUP = 'CSR signing controller';

/** The flags of kube-controller-manager that say with what certificate requests are signed. */
export const SIGNING_FLAGS = [
  {
    name: 'cluster-signing-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) of the CA that signs certificate signing requests. If empty, none are signed. Reloaded when the file changes.',
  },
  {
    name: 'cluster-signing-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of --cluster-signing-cert-file.',
  },
  {
    name: 'cluster-signing-duration',
    type: 'duration',
    default: '8760h',
    group: GROUP,
    help: 'The validity of signed certificates, limited by that of the CA certificate.',
  },
  {
    name: 'experimental-cluster-signing-duration',
    type: 'duration',
    default: '0s',
    group: GROUP,
    help: 'Deprecated alias of --cluster-signing-duration; takes precedence over it.',
  },
  {
    name: 'cluster-signing-kube-apiserver-client-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) of the CA for the signer kube-apiserver-client. If any signer has its own CA, signers without one sign nothing, and --cluster-signing-cert-file must not be given.',
  },
  {
    name: 'cluster-signing-kube-apiserver-client-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of this CA.',
  },
  {
    name: 'cluster-signing-kubelet-client-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) of the CA for the signer kube-apiserver-client-kubelet.',
  },
  {
    name: 'cluster-signing-kubelet-client-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of this CA.',
  },
  {
    name: 'cluster-signing-kubelet-serving-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) of the CA for the signer kubelet-serving.',
  },
  {
    name: 'cluster-signing-kubelet-serving-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of this CA.',
  },
  {
    name: 'cluster-signing-legacy-unknown-cert-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate (PEM) of the CA for the signer legacy-unknown.',
  },
  {
    name: 'cluster-signing-legacy-unknown-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM) of this CA.',
  },
] as const;
