import type { FlagRow } from '../../../shared/flags/flag-row';

const GROUP = 'Overload';

/** Flags that limit concurrent requests. Names and defaults are kube-apiserver's where it has the flag. */
export const FLOW_FLAGS = [
  {
    name: 'max-requests-inflight',
    type: 'int',
    default: 400,
    min: 0,
    group: GROUP,
    help: 'The maximum number of non-mutating requests in flight; beyond it, requests are rejected. 0 disables the limit. With --enable-priority-and-fairness, the sum with --max-mutating-requests-inflight is divided among the priority levels.',
  },
  {
    name: 'max-mutating-requests-inflight',
    type: 'int',
    default: 200,
    min: 0,
    group: GROUP,
    help: 'The same for mutating requests.',
  },
  {
    name: 'max-inflight-bytes',
    type: 'int',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'The maximum bytes of requests in flight: an eighth of it for request bodies, half of it for answers that clients have not taken yet, a sixteenth for the queues of watches, a quarter of the first two for one user. Further requests are rejected with 429. 0 means half of the heap limit of the process.',
  },
  {
    name: 'enable-priority-and-fairness',
    type: 'bool',
    default: true,
    group: GROUP,
    help: 'Queue and dispatch requests by FlowSchemas and PriorityLevelConfigurations, instead of only limiting their number; needs the feature gate APIPriorityAndFairness.',
  },
  {
    name: 'shared-limits-redis',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The Redis server by which replicas divide the seats of each priority level and the budgets of EventRateLimit among them, as rediss://[user:password@]host:port; redis:// is without TLS. $(NAME) is replaced by the environment variable, so that no argument shows a password. While it is away, the division stays as it was last.',
  },
  {
    name: 'shared-limits-redis-ca-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The certificate authorities (PEM) of the server of --shared-limits-redis; by default those of this machine.',
  },
] as const satisfies readonly FlagRow[];
