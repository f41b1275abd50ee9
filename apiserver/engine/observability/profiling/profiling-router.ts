import { badRequest, StatusError } from '../../../../shared/errors/status-error';
import type { Answer, Exchange } from '../../request/exchange';
import { PROFILING_PATH } from '../../request/long-running';
import type { PageRequest, PageRoutes } from '../../server/page-router';
import { createPageRouter, page } from '../../server/page-router';
import type { ProfileKind } from './profiler';
import { PROFILE_KINDS, Profiler } from './profiler';

const SECONDS_DEFAULT = 30;
const SECONDS_MAX = 60;
const RETRY_AFTER_SECONDS = 5;

interface Page {
  /** File name extension. */
  readonly suffix: string;
  readonly about: string;
}

const PAGES: Readonly<Record<ProfileKind, Page>> = {
  profile: { suffix: 'cpuprofile', about: 'what the processor does' },
  heap: { suffix: 'heapprofile', about: 'who allocates memory that is still in use at the end' },
};

/**
 * Creates the routes of `/debug/pprof/`: an index, and `profile` and `heap`, which record the thread that serves requests for `?seconds=`
 * (30 by default, 60 at most). One profile is recorded at a time; all other requests for one get 429.
 */
export function createProfilingRouter(): PageRoutes {
  const router = createPageRouter();
  const profiler = new Profiler();
  router.use('/debug/pprof', page(refuseOtherMethods));
  router.all(
    '/debug/pprof',
    page(() => text(302, FOUND, { Location: PROFILING_PATH, 'Content-Type': HTML })),
  );
  router.all(
    PROFILING_PATH,
    page(() => text(200, INDEX, { 'Content-Type': HTML })),
  );
  for (const kind of PROFILE_KINDS) {
    router.all(
      PROFILING_PATH + kind,
      page(async ({ exchange }) => answerProfile(profiler, kind, exchange)),
    );
  }
  router.use(
    '/debug/pprof',
    page(() => text(404, 'Unknown profile\n', {})),
  );
  return { router, paths: [] };
}

function refuseOtherMethods({ exchange }: PageRequest): undefined {
  if (exchange.method !== 'GET') throw new StatusError('MethodNotAllowed', 'profiles are read by GET');
}

async function answerProfile(profiler: Profiler, kind: ProfileKind, exchange: Exchange): Promise<Answer> {
  const profile = await profiler.recordingOf(kind, secondsOf(exchange), exchange.signal);
  if (profile === undefined) {
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    throw new StatusError('TooManyRequests', 'another profile is being recorded', { details });
  }
  const file = `attachment; filename="${kind}.${PAGES[kind].suffix}"`;
  const headers = { 'Content-Type': 'application/json', 'Content-Disposition': file };
  return { code: 200, headers: { ...headers, 'X-Content-Type-Options': 'nosniff' }, body: profile };
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
