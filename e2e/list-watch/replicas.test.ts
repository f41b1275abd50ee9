import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../shared/client/client';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { ApiObject } from '../../shared/meta/object';
import type { Body } from '../support/client';
import { eventually } from '../support/eventually';
import { type HaSet, startHaSet } from '../support/ha-set';
import { configMap, namespace } from '../support/objects';
import { sized } from '../support/scale';
import { explained } from '../support/workspace';

jest.setTimeout(sized({ full: 1_800_000, small: 240_000 }));

const OBJECTS = 50;
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' };

describe('three replicas', () => {
  let set: HaSet;
  beforeAll(
    explained(async () => {
      set = await startHaSet({
        replicas: 3,
        etcd: 1,
        balancer: false,
        controllerManagers: 0,
        dialect: 'orch',
        extraArgs: ['--cache-check-interval=5s'],
      });
    }),
  );
  afterAll(async () => {
    await set?.stop();
  });

  async function freshCollection(name: string): Promise<string> {
    expect((await set.of(0).create('/api/v1/namespaces', namespace(name))).status).toBe(201);
    return `/api/v1/namespaces/${name}/configmaps`;
  }

  const namesOf = (body: Body): (string | undefined)[] =>
    (body.items ?? []).map((item) => item.metadata?.name);

  test(
    'pages taken from one replica after the other show one state, whatever is written meanwhile',
    explained(async () => {
      const path = await freshCollection('pages');
      const names = Array.from({ length: 30 }, (_, at) => `c${String(at).padStart(2, '0')}`);
      for (const name of names) await set.of(0).create(path, configMap(name));
      const seen: (string | undefined)[] = [];
      const versions = new Set<string | undefined>();
      let token = '';
      for (let page = 0; page === 0 || token !== ''; page += 1) {
        const { status, body } = await set.of(page % 3).get(`${path}?limit=4&continue=${token}`);
        expect(status).toBe(200);
        seen.push(...namesOf(body));
        versions.add(body.metadata?.resourceVersion);
        token = body.metadata?.continue ?? '';
        await set.of(0).delete(`${path}/${names[page] ?? ''}`);
        await set.of(1).create(path, configMap(`d${String(page)}`));
      }
      expect(seen).toEqual(names);
      expect(versions.size).toBe(1);
    }),
  );

  test(
    'a watch from before its start resumes on a replica that has just started, with nothing left out',
    explained(async () => {
      const path = await freshCollection('resumed');
      const { body } = await set.of(0).get(path);
      const written: (string | undefined)[] = [];
      for (let at = 0; at < 40; at += 1) {
        written.push(
          (await set.of(0).create(path, configMap(`c${String(at)}`))).body.metadata?.resourceVersion,
        );
      }
      await set.replicas[1]?.kill('SIGKILL');
      await set.replicas[1]?.restart();
      const seen: (string | undefined)[] = [];
      const watched = `${path}?watch=true&resourceVersion=${body.metadata?.resourceVersion ?? ''}`;
      for await (const { type, object } of set.of(1).watch(watched, AbortSignal.timeout(20_000))) {
        expect(type).toBe('ADDED');
        seen.push(object.metadata?.resourceVersion);
        if (seen.length === written.length) break;
      }
      expect(seen).toEqual(written);
    }),
  );

  test(
    'through kill -9, frozen replicas and restarts of the store every informer ends with what is stored',
    explained(async () => {
      const path = await freshCollection('chaos');
      const stop = new AbortController();
      const informers = set.replicas.flatMap(({ kubeconfig }) =>
        [1, 2].map(() => startInformer(kubeconfig, stop.signal)),
      );
      const order = informers.map((informer) => watchOrder(informer));
      await Promise.all(informers.map(async (each) => each.whenSynced(AbortSignal.timeout(30_000))));

      const damage = damageUntil(stop.signal);
      const writes = sized({ full: 200_000, small: 3_000 });
      const acknowledged = await writeAtRandom(path, writes);
      await damage.end();

      await set.of(0).create(path, configMap('last'));
      const stored = async (): Promise<string> => listed((await set.of(0).get(path)).body.items ?? []);
      const truth = await stored();
      await eventually(
        'every informer holds what is stored',
        async () => Promise.resolve(informers.every((each) => listed(each.store.list()) === truth)),
        60_000,
      );
      expect(await stored()).toBe(truth);
      expect(order.flatMap((each) => each.complaints)).toEqual([]);
      await noReplicaDiffers();
      stop.abort();
      process.stdout.write(
        `  ${String(acknowledged)} of ${String(writes)} random writes acknowledged, ${String(damage.done())} times of damage, ${String(informers.length)} informers equal\n`,
      );
    }),
  );

  function startInformer(kubeconfig: string, signal: AbortSignal): Informer<ApiObject> {
    const client = createClient(loadKubeconfig({ path: kubeconfig }).client);
    const informer = createInformer({
      client,
      resource: CONFIG_MAPS,
      namespace: 'chaos',
      retry: { initialMs: 50, maxMs: 1_000 },
    });
    void informer.run(signal);
    return informer;
  }

  /** Per object: never a version again, never an older one. */
  function watchOrder(informer: Informer<ApiObject>): { readonly complaints: readonly string[] } {
    const complaints: string[] = [];
    const newest = new Map<string, number>();
    const seen = ({ metadata }: ApiObject): void => {
      const key = metadata.uid ?? '';
      const version = Number(metadata.resourceVersion);
      const before = newest.get(key) ?? 0;
      if (version <= before)
        complaints.push(`${metadata.name ?? ''} went from ${String(before)} to ${String(version)}`);
      newest.set(key, version);
    };
    informer.addHandler({
      onAdd: seen,
      onUpdate: (_before, after) => {
        seen(after);
      },
    });
    return { complaints };
  }

  /** Something breaks every second: a replica dies, or sleeps for longer than a heartbeat, or the store restarts. */
  function damageUntil(signal: AbortSignal): {
    readonly end: () => Promise<void>;
    readonly done: () => number;
  } {
    const end = new AbortController();
    let done = 0;
    const damages = [
      async (): Promise<void> => {
        const replica = set.replicas[done % 3];
        await replica?.kill('SIGKILL');
        await replica?.restart();
      },
      async (): Promise<void> => {
        const replica = set.replicas[(done + 1) % 3];
        replica?.pause();
        await delay(1_500);
        replica?.resume();
      },
      async (): Promise<void> => {
        const [member] = set.etcd.members;
        await member?.kill('SIGKILL');
        await delay(300);
        await member?.start();
        await member?.healthy();
      },
    ];
    const run = (async (): Promise<void> => {
      while (!end.signal.aborted && !signal.aborted) {
        await damages[done % damages.length]?.();
        done += 1;
        await delay(500);
      }
    })();
    return {
      end: async () => {
        end.abort();
        await run;
      },
      done: () => done,
    };
  }

  /** Creates, changes and deletes fifty objects in no order through all replicas; what fails is left to the next. */
  async function writeAtRandom(path: string, writes: number): Promise<number> {
    let acknowledged = 0;
    let begun = 0;
    const writer = async (client: number): Promise<void> => {
      while (begun < writes) {
        begun += 1;
        const turn = begun;
        const random = Math.imul(turn, 0x9e3779b1) >>> 12;
        const name = `o${String(random % OBJECTS)}`;
        const url = `${path}/${name}`;
        const body = configMap(name, { turn: String(turn) });
        const api = set.of((client + turn) % 3);
        const attempt =
          turn % 7 === 0
            ? api.delete(url)
            : turn % 3 === 0
              ? api.create(path, body)
              : api.mergePatch(url, { data: { turn: String(turn) } });
        const answer = await attempt.catch(() => undefined);
        if (answer === undefined) await delay(20);
        else if (answer.status < 300) acknowledged += 1;
      }
    };
    await Promise.all([0, 1, 2, 3, 4, 5].map(writer));
    return acknowledged;
  }

  /** The replicas compare their caches with the store themselves; none of them may have found a difference. */
  async function noReplicaDiffers(): Promise<void> {
    for (const index of [0, 1, 2]) {
      const line = async (outcome: string): Promise<number> => {
        const { text } = await set.of(index).get('/metrics');
        const found = text
          .split('\n')
          .find((each) => each.startsWith(`apiserver_watch_cache_checks_total{outcome="${outcome}"`));
        return Number((found ?? '').split(' ').at(-1));
      };
      await eventually('the replica has compared', async () => (await line('equal')) > 0, 30_000);
      expect(await line('different')).toBe(0);
    }
  }

  function listed(objects: readonly Pick<Body, 'metadata'>[]): string {
    return objects
      .map(({ metadata }) => `${metadata?.name ?? ''}@${metadata?.resourceVersion ?? ''}`)
      .sort()
      .join(' ');
  }
});
