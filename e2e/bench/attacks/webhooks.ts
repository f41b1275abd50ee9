import type { Attack } from './attack';
import { HOOKED } from './stored';

const SLOW_AT_ONCE = 5;

/** Requests that their client cancels, so that a shared webhook seems not to answer. */
export const WEBHOOKS: readonly Attack[] = [
  {
    name: 'F5: slow requests to a shared webhook are abandoned, then one that it refuses (400) is sent',
    round: async (victim, signal) => {
      const create = async (name: string, query: string): Promise<number> => {
        const path = `/api/v1/namespaces/${HOOKED}/configmaps?dryRun=All${query}`;
        return victim.ask({ method: 'POST', path, body: { metadata: { name } } }, signal);
      };
      const slow = Array.from({ length: SLOW_AT_ONCE }, async () => create('slow', '&timeout=2200ms'));
      await Promise.all(slow);
      if (!signal.aborted) await create('evil', '');
    },
  },
];
