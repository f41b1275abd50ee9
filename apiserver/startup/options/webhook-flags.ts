import type { FlagRow } from '../../../shared/flags/flag-row';
import { DEFAULT_CALL_LIMITS } from '../../admission/webhooks/call';

const GROUP = 'Admission';

/** Flags for how admission webhooks are asked. kube-apiserver has none of them. */
export const WEBHOOK_FLAGS = [
  {
    name: 'admission-webhook-outage-failures',
    type: 'int',
    default: DEFAULT_CALL_LIMITS.failuresMax,
    min: 0,
    group: GROUP,
    help: 'After so many calls in a row without an answer an admission webhook is taken to be down: but for a try now and then it is not asked until it answers again, and what its failurePolicy says happens at once. 0: every request waits for it.',
  },
  {
    name: 'admission-webhook-max-requests-inflight',
    type: 'int',
    default: DEFAULT_CALL_LIMITS.callsMax,
    min: 1,
    group: GROUP,
    help: 'How many calls of one admission webhook may be under way at once; others wait for their turn.',
  },
] as const satisfies readonly FlagRow[];
