import { badRequest, StatusError } from '../../../../shared/errors/status-error';
import type { Answer, Exchange } from '../../request/exchange';
import { PROFILING_PATH } from '../../request/long-running';
import type { ProfileKind } from './profiler';
import { PROFILE_KINDS, Profiler } from './profiler';

/** Answers `/debug/pprof/` and what is below it; undefined for any other path. */
export type ProfilingEndpoints = (exchange: Exchange) => Promise<Answer | undefined>;

const SECONDS_DEFAULT = 30;
const SECONDS_MAX = 60;
const RETRY_AFTER_SECONDS = 5;

interface Page {
  /** Of the file, for programs that open it. */
  readonly suffix: string;
  readonly about: string;
}

const PAGES: Readonly<Record<ProfileKind, Page>> = {
  profile: { suffix: 'cpuprofile', about: 'what the processor does' },
  heap: { suffix: 'heapprofile', about: 'who allocates memory that is still in use at the end' },
};

/**
 * Profiles of the thread that serves requests, for whoever may `get` these paths: an index, `profile` and `heap`, over `?seconds=` (30 by
 * default, 60 at most). One at a time: everybody else gets 429.
 */
export function profilingEndpoints(): ProfilingEndpoints {
  const profiler = new Profiler();
  return async (exchange) => {
    const { path } = exchange;
    if (path !== '/debug/pprof' && !path.startsWith(PROFILING_PATH)) return undefined;
    if (exchange.method !== 'GET') throw new StatusError('MethodNotAllowed', 'profiles are read by GET');
    if (path === '/debug/pprof') return text(302, FOUND, { Location: PROFILING_PATH, 'Content-Type': HTML });
    if (path === PROFILING_PATH) return text(200, INDEX, { 'Content-Type': HTML });
    const kind = PROFILE_KINDS.find((each) => path === PROFILING_PATH + each);
    if (kind === undefined) return text(404, 'Unknown profile\n', {});
    const profile = await profiler.recordingOf(kind, secondsOf(exchange), exchange.signal);
    if (profile === undefined) {
      const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
      throw new StatusError('TooManyRequests', 'another profile is being recorded', { details });
    }
    const file = `attachment; filename="${kind}.${PAGES[kind].suffix}"`;
    const headers = { 'Content-Type': 'application/json', 'Content-Disposition': file };
    return { code: 200, headers: { ...headers, 'X-Content-Type-Options': 'nosniff' }, body: profile };
  };
}

function secondsOf({ query }: Exchange): number {
  const seconds = Number(query.get('seconds') ?? SECONDS_DEFAULT);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= SECONDS_MAX) return seconds;
  throw badRequest(`invalid seconds: it must be more than 0 and at most ${String(SECONDS_MAX)}`);
}

const HTML = 'text/html; charset=utf-8';
const FOUND = `<a href="${PROFILING_PATH}">Found</a>.\n\n`;

const INDEX = `<html>
<head><title>/debug/pprof/</title></head>
<body>
<p>Profiles of this process, in the format of V8: open them in the developer tools of a browser.</p>
<ul>
${PROFILE_KINDS.map((kind) => `<li><a href="${kind}?seconds=${String(SECONDS_DEFAULT)}">${kind}</a>: ${PAGES[kind].about}</li>`).join('\n')}
</ul>
</body>
</html>
`;

function text(code: number, content: string, headers: Readonly<Record<string, string>>): Answer {
  const type = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return { code, headers: { ...type, ...headers }, body: Buffer.from(content) };
}
