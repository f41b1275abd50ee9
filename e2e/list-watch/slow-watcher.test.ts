import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { eventually, patience } from '../../shared/testing/eventually';
import { configMap } from '../support/objects';
import { suiteLocalServer } from '../support/suite';
import { explained } from '../support/workspace';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const CLIENT = 'sleepy-client/1.0';
/** 60 versions of 700 KB exceed a queue of 16 MiB and the buffers of a connection. */
const BIG = 'x'.repeat(700_000);
const WRITES = 60;

const server = suiteLocalServer('orch');

async function metric(name: string, label: string): Promise<number> {
  const { text } = await server.replica.client.get('/metrics');
  const line = text.split('\n').find((each) => each.startsWith(name) && each.includes(label)) ?? '';
  return Number(line.slice(line.lastIndexOf(' ') + 1));
}

async function openWatches(): Promise<number> {
  const { watchers } = (await server.replica.client.get('/debug/watchers')).body;
  return Array.isArray(watchers) ? watchers.length : 0;
}

/** Opens a watch and never reads its events. */
async function openSleepyWatch(): Promise<IncomingMessage> {
  const { client, caFile, kubeconfig } = server.replica;
  const token = /token: "?([^"\n]+)"?/u.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  const outgoing = request(new URL(`${COLLECTION}?watch=true`, client.server), {
    ca: readFileSync(caFile),
    headers: { authorization: `Bearer ${token}`, 'user-agent': CLIENT },
    agent: false,
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.pause();
  return response;
}

test(
  'a watcher that stops reading is evicted, counted and logged, and delays no other watcher',
  explained(async () => {
    const { client } = server.replica;
    const sleepy = await openSleepyWatch();
    const from = (await client.get(COLLECTION)).body.metadata?.resourceVersion ?? '';
    const seen: string[] = [];
    const reader = (async (): Promise<void> => {
      const path = `${COLLECTION}?watch=true&resourceVersion=${from}`;
      for await (const { object } of client.watch(path, patience())) {
        if (object.metadata?.name === 'big') seen.push(object.metadata.resourceVersion ?? '');
        if (seen.length === WRITES) return;
      }
    })();
    await eventually('both watches are open', async () => (await openWatches()) === 2);
    const written: string[] = [];
    const closed = once(sleepy.socket, 'close');
    sleepy.on('error', () => undefined);
    for (let at = 0; at < WRITES; at += 1) {
      const body = configMap('big', { at: String(at), BIG });
      const answer =
        at === 0 ? await client.create(COLLECTION, body) : await client.update(`${COLLECTION}/big`, body);
      expect(answer.status).toBeLessThan(300);
      written.push(answer.body.metadata?.resourceVersion ?? '');
    }
    await reader;
    expect(seen).toEqual(written);
    expect(await metric('apiserver_terminated_watchers_total', 'configmaps')).toBe(1);
    expect(await metric('apiserver_watch_cache_watches_ended_total', 'slow')).toBe(1);
    const isNamed = (line: string): boolean => line.includes('slow watcher ended') && line.includes(CLIENT);
    await eventually('the log names the client', async () =>
      Promise.resolve(server.replica.process().recentLines().some(isNamed)),
    );
    // Its connection is closed: only the buffers of the kernel remain to be read.
    sleepy.resume();
    await closed;
    expect(sleepy.complete).toBe(false);
    expect((await client.get('/debug/watchers')).text).not.toContain(CLIENT);
  }),
);
