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
    help: 'Who issues the tokens of service accounts, as their "iss" claim says. With an https URL, the documents by which others verify the tokens are served: /.well-known/openid-configuration and /openid/v1/jwks.',
  },
  {
    name: 'service-account-signing-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The private key (PEM, RSA or ECDSA) that signs the tokens of service accounts. All replicas must have the same. If empty, one is made in --cert-dir, and found there at the next start.',
  },
  {
    name: 'service-account-key-file',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'Files of keys (PEM, public or private, several in a file if need be) that tokens of service accounts are verified with, beside the one that signs. If none is given, --tls-private-key-file.',
  },
  {
    name: 'service-account-lookup',
    type: 'bool',
    default: true,
    group: GROUP,
    help: 'Whether a token from a Secret is good only as long as the Secret and the service account are there.',
  },
  {
    name: 'service-account-max-token-expiration',
    type: 'duration',
    default: '0s',
    group: GROUP,
    help: 'The longest time a token of a service account is good for; requests for more get this. At least 1h; 0 is as long as requested.',
  },
  {
    name: 'service-account-extend-token-expiration',
    type: 'bool',
    default: true,
    group: GROUP,
    help: 'Make the tokens that pods get by themselves good for a year, for clients that read them once, and count their use after the time they should have been renewed.',
  },
  {
    name: 'service-account-jwks-uri',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The https URL at which others find the keys of tokens, as /.well-known/openid-configuration tells it. If empty, /openid/v1/jwks of this server.',
  },
  {
    name: 'api-audiences',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The names under which tokens are meant for this API: a token must be meant for one of them, and one that is requested for nobody in particular is meant for all. If empty, the issuer.',
  },
] as const satisfies readonly FlagRow[];
