import type { RedisOptions } from '../../../shared/client/redis';
import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { expandVariables, redisUrlErrors } from './redis-url';

const GROUP = 'Authentication';

/** Flags for sharing the responses of token and authorization webhooks between replicas. */
export const SHARED_ANSWER_FLAGS = [
  {
    name: 'shared-webhook-cache-redis',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The Redis server by which replicas tell each other what the authentication and authorization webhooks answered, as rediss://[user:password@]host:port; redis:// is without TLS. $(NAME) is replaced by the environment variable, so that no argument shows a password. Needs --shared-webhook-cache-key-file. While it is slow or away, each replica asks for itself.',
  },
  {
    name: 'shared-webhook-cache-redis-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate authorities (PEM) of the server of --shared-webhook-cache-redis; by default those of this machine.',
  },
  {
    name: 'shared-webhook-cache-key-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'A file with at least 32 random bytes, the same for all replicas, by which shared answers are encrypted and their questions hashed. Replicas with another file understand nothing of them.',
  },
] as const satisfies readonly FlagRow[];

export interface SharedAnswerOptions extends RedisOptions {
  readonly keyFile: string;
}

type SharedAnswerFlags = FlagValues<typeof SHARED_ANSWER_FLAGS>;

/** Returns undefined if replicas share no responses. */
export function sharedAnswerOptions(flags: SharedAnswerFlags): SharedAnswerOptions | undefined {
  const { sharedWebhookCacheRedis, sharedWebhookCacheRedisCaFile: caFile } = flags;
  const url = expandVariables(sharedWebhookCacheRedis);
  if (url === '') return undefined;
  return { url, caFile: caFile || undefined, keyFile: flags.sharedWebhookCacheKeyFile };
}

export function sharedAnswerErrors(flags: SharedAnswerFlags): readonly string[] {
  const { sharedWebhookCacheRedis: url, sharedWebhookCacheKeyFile: keyFile } = flags;
  if (url === '') return [];
  return [
    ...redisUrlErrors('shared-webhook-cache-redis', url),
    ...(keyFile === '' ? ['--shared-webhook-cache-redis needs --shared-webhook-cache-key-file'] : []),
  ];
}
