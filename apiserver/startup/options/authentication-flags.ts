import type { FlagRow } from '../../../shared/flags/flag-row';
import { TOKEN_ALGORITHMS } from '../../../shared/tokens/token-key';
import { REVIEW_VERSIONS } from '../../access/webhook/review-call';
import { NAMESPACE } from '../../../shared/names';

const GROUP = 'Authentication';

/** The flags for the ways to know who asks, beside tokens of service accounts and of a file. */
export const AUTHENTICATION_FLAGS = [
  {
    name: 'client-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'Authorities (PEM) whose certificates make clients known: the common name is the user, the organizations are the groups. The file is read anew when it changes.',
  },
  {
    name: 'enable-bootstrap-token-auth',
    type: 'bool',
    default: false,
    group: GROUP,
    help: `Take the tokens in Secrets of the namespace ${NAMESPACE.system} with which nodes join the cluster.`,
  },
  {
    name: 'requestheader-client-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'Authorities (PEM) of proxies that authenticate users themselves: whoever shows a certificate of theirs is believed what the headers say. They should sign nothing else. The file is read anew when it changes.',
  },
  {
    name: 'requestheader-allowed-names',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The common names that certificates of such proxies may have. If empty, any.',
  },
  {
    name: 'requestheader-username-headers',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The headers in which such a proxy tells the user; the first that is there counts. X-Remote-User is common.',
  },
  {
    name: 'requestheader-group-headers',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The headers in which such a proxy tells the groups; all values of all of them count. X-Remote-Group is common.',
  },
  {
    name: 'requestheader-extra-headers-prefix',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'What the headers begin with in which such a proxy tells more about the user; the rest of the name is the key. X-Remote-Extra- is common.',
  },
  {
    name: 'oidc-issuer-url',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The https URL of an OpenID Connect issuer whose id_tokens make users known. Needs --oidc-client-id.',
  },
  {
    name: 'oidc-client-id',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The client that the tokens of the issuer must be meant for.',
  },
  {
    name: 'oidc-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The authority (PEM) of the issuer’s web certificate. If empty, those of this machine.',
  },
  {
    name: 'oidc-username-claim',
    type: 'string',
    default: 'sub',
    group: GROUP,
    help: 'The claim that is the name of the user. An email address counts only if it is verified, as far as the token says.',
  },
  {
    name: 'oidc-username-prefix',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'Stands before every name, so that none is that of somebody else; "-" for nothing. If empty, the issuer and "#", unless the claim is email.',
  },
  {
    name: 'oidc-groups-claim',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The claim that is the list of groups. If empty, tokens say nothing about groups.',
  },
  {
    name: 'oidc-groups-prefix',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'Stands before every group, so that none is that of somebody else.',
  },
  {
    name: 'oidc-signing-algs',
    type: 'stringList',
    values: TOKEN_ALGORITHMS,
    default: ['RS256'],
    group: GROUP,
    help: 'The algorithms that tokens may be signed with.',
  },
  {
    name: 'oidc-required-claim',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'A claim that every token must have with this value, as <claim>=<value>; may be given several times.',
  },
  {
    name: 'authentication-token-webhook-config-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'A kubeconfig that says where, and as whom, to ask a remote service about tokens that nothing here knows.',
  },
  {
    name: 'authentication-token-webhook-version',
    type: 'enum',
    values: REVIEW_VERSIONS,
    default: 'v1beta1',
    group: GROUP,
    help: 'The version of the TokenReviews that are sent to the remote service.',
  },
  {
    name: 'authentication-token-webhook-cache-ttl',
    type: 'duration',
    default: '2m0s',
    group: GROUP,
    help: 'How long what the remote service said of a token stands. 0 asks each time.',
  },
] as const satisfies readonly FlagRow[];
