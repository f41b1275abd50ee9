import type { FlagRow } from '../../../shared/flags/flag-row';
import { DEFAULT_CALL_LIMITS } from '../../kubernetes/admission/webhooks/call';

const GROUP = 'Admission';

/** Flags for calls of admission webhooks. kube-apiserver has none of them. */
export const WEBHOOK_FLAGS = [
  {
    name: 'admission-webhook-outage-failures',
    type: 'int',
    default: DEFAULT_CALL_LIMITS.failuresMax,
    min: 0,
    group: GROUP,
    help: 'Circuit breaker: after this many consecutive calls without a response, by its own fault, an admission webhook is considered down. Until it responds again, only probes call it and other requests fail immediately; with the failurePolicy Ignore, requests wait for it for at most a second. 0 disables the circuit breaker.',
  },
  {
    name: 'admission-webhook-max-requests-inflight',
    type: 'int',
    default: DEFAULT_CALL_LIMITS.callsMax,
    min: 1,
    group: GROUP,
    help: 'Bulkhead: the maximum number of concurrent calls to one admission webhook; further calls wait in a queue.',
  },
] as const satisfies readonly FlagRow[];
