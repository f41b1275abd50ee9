import { setTimeout as delay } from 'node:timers/promises';
import { eventually, patience } from '../../shared/testing/eventually';
import type { ApiClient } from '../support/client';
import { configMap } from '../support/objects';
import { suiteHaSet } from '../support/suite';
import { explained } from '../support/workspace';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const WATCHERS = 200;
const DELAY_MS = 10_000;
const WRITE_INTERVAL_MS = 40;
/** The least number of versions among the last bookmarks, while writes continue and the watches end one after the other. */
const SPREAD_MIN = 5;

/** The events of one watch. */
interface Watched {
  readonly versions: readonly string[];
  /** The type of the last event. */
  readonly last: string | undefined;
  /** The version from which a client resumes. */
  readonly resumeAt: string;
}

describe('a replica during graceful shutdown', () => {
  const stopWriting = new AbortController();
  afterAll(() => {
    stopWriting.abort();
  });
  const set = suiteHaSet({
    replicas: 2,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'orch',
    shutdownDelay: `${String(DELAY_MS)}ms`,
  });

  test(
    'drains its watches with a bookmark, from which each resumes on another replica without a gap',
    explained(async () => {
      const [going, staying] = [set.of(1), set.of(0)];
      const from = (await staying.get(COLLECTION)).body.metadata?.resourceVersion ?? '';
      const written: string[] = [];
      const writing = writeUntil(staying, written, stopWriting.signal);

      const watches = Array.from({ length: WATCHERS }, async () => watchToEnd(going, from));
      await eventually('every watch is open', async () => (await openWatchers(going)) >= WATCHERS);

      const gone = set.replicas[1]?.kill('SIGTERM');
      await eventually('readyz fails', async () => (await going.get('/readyz')).status >= 500);
      // Clients that have not noticed yet are served as before.
      expect((await going.get(COLLECTION)).status).toBe(200);

      const first = await Promise.all(watches);
      expect(first.map(({ last }) => last)).toEqual(first.map(() => 'BOOKMARK'));
      expect(new Set(first.map(({ resumeAt }) => resumeAt)).size).toBeGreaterThanOrEqual(SPREAD_MIN);
      await gone;
      expect(await set.replicas[1]?.process().exited).toEqual({ code: 0, signal: null });

      stopWriting.abort();
      await writing;
      const newest = written.at(-1);
      const second = await Promise.all(
        first.map(async ({ resumeAt }) => watchToEnd(staying, resumeAt, newest)),
      );
      for (const [index, { versions }] of first.entries()) {
        expect([...versions, ...(second[index]?.versions ?? [])]).toEqual(written);
      }
    }),
  );

  /** Follows a watch until the server ends it, or until it has seen `until`. Rejects on an ERROR event and on a broken connection. */
  async function watchToEnd(client: ApiClient, from: string, until?: string): Promise<Watched> {
    const versions: string[] = [];
    let last: string | undefined;
    let resumeAt = from;
    const path = `${COLLECTION}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`;
    // The watch resumed from a newer version, so that there is no event to wait for.
    if (until !== undefined && Number(from) >= Number(until)) return { versions, last, resumeAt };
    for await (const { type, object } of client.watch(path, patience())) {
      if (type === 'ERROR') throw new Error(`a watch ended with ${JSON.stringify(object)}.`);
      last = type;
      resumeAt = object.metadata?.resourceVersion ?? '';
      if (type !== 'BOOKMARK') versions.push(resumeAt);
      if (resumeAt === until) break;
    }
    return { versions, last, resumeAt };
  }

  async function writeUntil(client: ApiClient, written: string[], signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      const { status, body } = await client.create(COLLECTION, configMap(`c${String(turn)}`));
      expect(status).toBe(201);
      written.push(body.metadata?.resourceVersion ?? '');
      await delay(WRITE_INTERVAL_MS);
    }
  }

  async function openWatchers(client: ApiClient): Promise<number> {
    const { text } = await client.get('/metrics');
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith('apiserver_longrunning_gauge') && line.includes('configmaps'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }
});
