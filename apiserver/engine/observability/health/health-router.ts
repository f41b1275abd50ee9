import { untilAborted } from '../../../../shared/concurrency/abort';
import { systemClock } from '../../../../shared/concurrency/clock';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../shared/log/log';
import type { Answer, Exchange } from '../../request/exchange';
import type { PageRoutes } from '../../server/page-router';
import { createPageRouter, page } from '../../server/page-router';
import type { HealthCheck, HealthPath, LivezGrace } from './health-check';
import { checksOf, HEALTH_PATHS } from './health-check';

export interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  readonly log: Log;
  /** Absent: no grace. */
  readonly livezGrace?: LivezGrace;
  /** Called with the result of each check of a probe. */
  readonly observe?: ObserveCheck;
}

export type ObserveCheck = (path: HealthPath, name: string, isHealthy: boolean) => void;

/** A check that takes longer counts as failed. */
const CHECK_TIMEOUT_MS = 5_000;

const NO_GRACE: LivezGrace = { clock: systemClock, startedAt: 0, graceMs: 0 };

/**
 * Creates the routes `/healthz`, `/livez` and `/readyz`, and below them one for each check. 200 means healthy, 500 means not. `?verbose`
 * shows one line per check; `?exclude=<check>` ignores one and may be repeated. The reason of a failure is logged when it begins and when
 * it ends, and is never shown to the client.
 */
export function createHealthRouter({
  checks,
  log,
  livezGrace = NO_GRACE,
  observe,
}: HealthOptions): PageRoutes {
  const router = createPageRouter();
  const failing = new Set<string>();
  for (const path of HEALTH_PATHS) {
    const allChecks = page(async ({ exchange }) =>
      answerAll(path, checksOf(path, checks, livezGrace), { exchange, log, failing, observe }),
    );
    const oneCheck = page(async ({ exchange }) => {
      const wanted = exchange.path.slice(path.length + 2);
      const check = checksOf(path, checks, livezGrace).find(({ name }) => name === wanted);
      return check === undefined ? undefined : answerOne(check, exchange);
    });
    router.all(`/${path}`, allChecks);
    router.all(`/${path}/*check`, oneCheck);
  }
  return { router, paths: healthPaths(checks) };
}

function healthPaths(checks: readonly HealthCheck[]): readonly string[] {
  return HEALTH_PATHS.flatMap((path) => [
    `/${path}`,
    ...checks.filter(({ paths }) => paths.includes(path)).map(({ name }) => `/${path}/${name}`),
  ]);
}

async function answerOne(check: HealthCheck, { signal }: Exchange): Promise<Answer> {
  const problem = (await problemsOf([check], signal)).get(check.name);
  return problem === undefined ? PASSED : text(500, `internal server error: ${problem}\n`);
}

interface Context {
  readonly exchange: Exchange;
  readonly log: Log;
  /** Paths of the checks that failed at the last probe; at most one entry per path and check. */
  readonly failing: Set<string>;
  readonly observe: ObserveCheck | undefined;
}

async function answerAll(
  path: HealthPath,
  checks: readonly HealthCheck[],
  context: Context,
): Promise<Answer> {
  const { exchange } = context;
  const excluded = new Set(exchange.query.getAll('exclude').filter((name) => name !== ''));
  const asked = checks.filter((check) => !excluded.has(check.name));
  const problems = await problemsOf(asked, exchange.signal);
  for (const check of asked.filter(({ isStartup = false }) => !isStartup)) {
    logChange(path, check, problems.get(check.name), context);
  }
  logStartup(path, asked, problems, context);
  for (const { name } of asked) context.observe?.(path, name, !problems.has(name));
  const lines = checks.map(({ name }) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok`;
    return problems.has(name) ? `[-]${name} failed: reason withheld` : `[+]${name} ok`;
  });
  const unmatched = [...excluded].filter((name) => !checks.some((check) => check.name === name));
  if (unmatched.length > 0) {
    const names = unmatched.map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (problems.size > 0) {
    return text(500, `${lines.join('\n')}\nhealthz check failed\n`);
  }
  if (!exchange.query.has('verbose')) return text(200, 'ok');
  return text(200, `${lines.join('\n')}\nhealthz check passed\n`);
}

function logChange(
  path: HealthPath,
  { name }: HealthCheck,
  problem: string | undefined,
  { log, failing }: Context,
): void {
  const place = `/${path}/${name}`;
  if ((problem !== undefined) === failing.has(place)) return;
  if (problem === undefined) {
    failing.delete(place);
    log.info({ check: place }, 'health check passes');
    return;
  }
  failing.add(place);
  log.warn({ check: place, reason: problem }, 'health check failed');
}

/** Logs startup checks in one line: an unfinished start is no fault. */
function logStartup(
  path: HealthPath,
  asked: readonly HealthCheck[],
  problems: ReadonlyMap<string, string>,
  { log, failing }: Context,
): void {
  const of = asked.filter(({ isStartup = false }) => isStartup).map(({ name }) => name);
  const begun = of.filter((name) => problems.has(name) && !failing.has(`/${path}/${name}`));
  const over = of.filter((name) => !problems.has(name) && failing.has(`/${path}/${name}`));
  for (const name of begun) failing.add(`/${path}/${name}`);
  for (const name of over) failing.delete(`/${path}/${name}`);
  if (begun.length > 0) log.info({ path: `/${path}`, checks: begun }, 'health checks are not passing yet');
  if (over.length > 0) log.info({ path: `/${path}`, checks: over }, 'health checks pass');
}

/**
 * Runs the checks and returns the problems by name. All checks share one time limit: there are some forty, nearly all
 * answer at once, and anonymous clients may call them, so a timer for each would be most of the work.
 */
async function problemsOf(
  checks: readonly HealthCheck[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const waiting = new Set(checks.map(({ name }) => name));
  const textOf = (error: unknown): string => {
    if (signal.aborted) return 'it had not answered when the client disconnected';
    return error instanceof Error ? error.message : String(error);
  };
  const ask = async ({ name, check }: HealthCheck, inTime: AbortSignal): Promise<void> => {
    try {
      const problem = await check(inTime);
      if (problem !== undefined) found.set(name, problem);
    } catch (error) {
      found.set(name, textOf(error));
    }
    waiting.delete(name);
  };
  try {
    await withTimeLimit(signal, CHECK_TIMEOUT_MS, async (inTime) =>
      untilAborted(Promise.all(checks.map(async (each) => ask(each, inTime))), inTime),
    );
  } catch (error) {
    for (const name of waiting) found.set(name, textOf(error));
  }
  // A check that answers after the time limit must not change the result.
  return new Map(found);
}

/** As upstream, which sets `nosniff` only where it sets a content type. */
const PASSED: Answer = {
  code: 200,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: Buffer.from('ok'),
};

function text(code: number, content: string): Answer {
  return {
    code,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    body: Buffer.from(content, 'utf8'),
  };
}
