import type { FlagRow } from '../../../shared/flags/flag-row';
import { ACCOUNT_TOKEN } from '../../../shared/names';

const GROUP = 'Authentication';

/** The flags for tokens of service accounts. */
export const ACCOUNT_TOKEN_FLAGS = [
  {
    name: 'service-account-issuer',
    type: 'string',
    default: ACCOUNT_TOKEN.issuer,
    group: GROUP,
    help: 'The issuer ("iss" claim) of service account tokens. If it is an https URL, the discovery documents for verifying the tokens are served: /.well-known/openid-configuration and /openid/v1/jwks.',
  },
  {
    name: 'service-account-signing-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM, RSA or ECDSA) that signs service account tokens. It must be the same on all replicas. If empty, a key is generated in --cert-dir and reused at the next start.',
  },
  {
    name: 'service-account-key-file',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'Files with additional keys (PEM, public or private, one or more per file) for verifying service account tokens. Defaults to --tls-private-key-file.',
  },
  {
    name: 'service-account-lookup',
    type: 'bool',
    default: true,
    group: GROUP,
    help: 'Reject a token from a Secret when the Secret or its service account no longer exists.',
  },
  {
    name: 'service-account-max-token-expiration',
    type: 'duration',
    default: '0s',
    group: GROUP,
    help: 'The maximum validity of a service account token; longer requests are shortened to it. At least 1h; 0 means no maximum.',
  },
  {
    name: 'service-account-extend-token-expiration',
    type: 'bool',
    default: true,
    group: GROUP,
    help: 'Extend the validity of the tokens that are injected into pods to one year, for clients that read their token only once, and count the use of stale tokens in metrics.',
  },
  {
    name: 'service-account-jwks-uri',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The https URL of the JSON Web Key Set that /.well-known/openid-configuration announces. Defaults to /openid/v1/jwks on this server.',
  },
  {
    name: 'api-audiences',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The audiences of this API: a service account token must be valid for at least one of them, and a token requested without audiences gets all of them. Defaults to the issuer.',
  },
] as const satisfies readonly FlagRow[];
