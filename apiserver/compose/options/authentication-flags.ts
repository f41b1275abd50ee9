import type { FlagRow } from '../../../shared/flags/flag-row';
import { TOKEN_ALGORITHMS } from '../../../shared/tokens/token-key';
import { REVIEW_VERSIONS } from '../../engine/remote/review-call';
import { NAMESPACE } from '../../../shared/names';

const GROUP = 'Authentication';

/** The flags for authentication methods, except service account tokens and token files. */
export const AUTHENTICATION_FLAGS = [
  {
    name: 'client-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'CA bundle (PEM) for client certificates: the common name of a certificate is the user name, its organizations are the groups. Reloaded when the file changes.',
  },
  {
    name: 'enable-bootstrap-token-auth',
    type: 'bool',
    default: false,
    group: GROUP,
    help: `Accept bootstrap tokens, with which nodes join the cluster, from Secrets in the namespace ${NAMESPACE.system}.`,
  },
  {
    name: 'requestheader-client-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'CA bundle (PEM) for client certificates of authenticating proxies: the user headers of their requests are trusted. Do not use these CAs for anything else. Reloaded when the file changes.',
  },
  {
    name: 'requestheader-allowed-names',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The allowed common names of proxy client certificates. If empty, any common name is allowed.',
  },
  {
    name: 'requestheader-username-headers',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The headers to inspect for the user name; the first one present is used. X-Remote-User is common.',
  },
  {
    name: 'requestheader-group-headers',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The headers to inspect for groups; all values of all of them are used. X-Remote-Group is common.',
  },
  {
    name: 'requestheader-extra-headers-prefix',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The prefixes of headers with extra information about the user; the rest of the header name is the key. X-Remote-Extra- is common.',
  },
  {
    name: 'oidc-issuer-url',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The https URL of the OpenID Connect issuer whose ID tokens are accepted. Requires --oidc-client-id.',
  },
  {
    name: 'oidc-client-id',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The client ID that must be an audience of the ID tokens.',
  },
  {
    name: 'oidc-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'CA bundle (PEM) that verifies the serving certificate of the issuer. Defaults to the root CAs of the host.',
  },
  {
    name: 'oidc-username-claim',
    type: 'string',
    default: 'sub',
    group: GROUP,
    help: 'The claim to use as the user name. With the claim email, tokens whose email_verified claim is false are rejected.',
  },
  {
    name: 'oidc-username-prefix',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'Prefix for user names, to prevent clashes with other authentication methods; "-" disables prefixing. Defaults to the issuer URL and "#", and to no prefix if the claim is email.',
  },
  {
    name: 'oidc-groups-claim',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The claim to use as the groups of the user. If empty, ID tokens carry no groups.',
  },
  {
    name: 'oidc-groups-prefix',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'Prefix for groups, to prevent clashes with other authentication methods.',
  },
  {
    name: 'oidc-signing-algs',
    type: 'stringList',
    values: TOKEN_ALGORITHMS,
    default: ['RS256'],
    group: GROUP,
    help: 'The accepted signing algorithms of ID tokens.',
  },
  {
    name: 'oidc-required-claim',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'A <claim>=<value> pair that every ID token must contain; may be repeated.',
  },
  {
    name: 'authentication-token-webhook-config-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'File in kubeconfig format with the address and credentials of the remote service that verifies bearer tokens unknown to this server.',
  },
  {
    name: 'authentication-token-webhook-version',
    type: 'enum',
    values: REVIEW_VERSIONS,
    default: 'v1beta1',
    group: GROUP,
    help: 'The API version of the TokenReviews sent to the authentication webhook.',
  },
  {
    name: 'authentication-token-webhook-cache-ttl',
    type: 'duration',
    default: '2m0s',
    group: GROUP,
    help: 'How long to cache responses of the authentication webhook. 0 disables caching.',
  },
] as const satisfies readonly FlagRow[];
