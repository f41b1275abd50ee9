import type { Attack } from './attack';
import { GUESSED_TOKEN, MADE_UP_TOKEN } from './pipelining';
import type { Request } from './victim';

const CONNECTIONS = 64;

/** Requests without credentials, each sent as soon as the last one of its connection is answered. */
export const FLOODS: readonly Attack[] = [
  flood('GET /healthz', { path: '/healthz' }),
  flood('GET /livez/ping', { path: '/livez/ping' }),
  flood('GET /api/v1/pods', { path: '/api/v1/pods' }),
  flood('made-up tokens', { path: '/api/v1/pods', headers: { authorization: MADE_UP_TOKEN } }),
  flood('guessed bootstrap tokens', { path: '/api/v1/pods', headers: { authorization: GUESSED_TOKEN } }),
];

function flood(what: string, request: Request): Attack {
  return {
    name: `flood: ${what} on ${String(CONNECTIONS)} connections, without credentials`,
    round: async (victim, signal) => {
      const all = Array.from({ length: CONNECTIONS }, async () =>
        victim.ask({ ...request, isAnonymous: true }, signal),
      );
      await Promise.all(all);
    },
  };
}
