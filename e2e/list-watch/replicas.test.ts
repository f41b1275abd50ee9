import { patience } from '../../shared/testing/eventually';
import type { Body } from '../support/client';
import { freshCollection } from '../support/fresh-collection';
import { configMap } from '../support/objects';
import { suiteHaSet } from '../support/suite';
import { explained } from '../support/workspace';

describe('three replicas', () => {
  const set = suiteHaSet({
    replicas: 3,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'orch',
  });

  const namesOf = (body: Body): (string | undefined)[] =>
    (body.items ?? []).map((item) => item.metadata?.name);

  test(
    'pages from alternating replicas are one consistent list in spite of concurrent writes',
    explained(async () => {
      const path = await freshCollection(set.of(0), 'pages');
      const names = Array.from({ length: 30 }, (_, at) => `c${String(at).padStart(2, '0')}`);
      for (const name of names) await set.of(0).create(path, configMap(name));
      const seen: (string | undefined)[] = [];
      const versions = new Set<string | undefined>();
      let token = '';
      for (let page = 0; page === 0 || token !== ''; page += 1) {
        const { status, body } = await set.of(page % 3).get(`${path}?limit=4&continue=${token}`);
        expect(status).toBe(200);
        expect(body.items).toHaveLength(Math.min(4, names.length - seen.length));
        seen.push(...namesOf(body));
        versions.add(body.metadata?.resourceVersion);
        token = body.metadata?.continue ?? '';
        // Delete an object that no page has returned yet, and create one after the end of the last page.
        const goes = await set.of(0).delete(`${path}/${names.at(-1 - page) ?? ''}`);
        const comes = await set.of(1).create(path, configMap(`d${String(page)}`));
        expect([goes.status, comes.status]).toEqual([200, 201]);
      }
      expect(seen).toEqual(names);
      expect(versions.size).toBe(1);
    }),
  );

  test(
    'a replica that received no write serves every kind of read at the requested version',
    explained(async () => {
      const path = await freshCollection(set.of(0), 'versions');
      const versionOf = (body: Body): string => body.metadata?.resourceVersion ?? '';
      const first = versionOf((await set.of(0).create(path, configMap('a'))).body);
      const second = versionOf((await set.of(0).create(path, configMap('b'))).body);
      const unset = await set.of(1).get(path);
      expect(namesOf(unset.body)).toEqual(['a', 'b']);
      const third = versionOf((await set.of(0).create(path, configMap('c'))).body);
      const notOlder = await set.of(1).get(`${path}?resourceVersion=${third}`);
      expect(namesOf(notOlder.body)).toEqual(['a', 'b', 'c']);
      expect((await set.of(2).get(`${path}/c?resourceVersion=${third}`)).status).toBe(200);
      for (const query of ['resourceVersionMatch=Exact', 'limit=5']) {
        const exact = await set.of(2).get(`${path}?${query}&resourceVersion=${second}`);
        expect([namesOf(exact.body), versionOf(exact.body)]).toEqual([['a', 'b'], second]);
      }
      const seen: string[] = [];
      const watched = `${path}?watch=1&resourceVersion=${first}`;
      for await (const { type, object } of set.of(1).watch(watched, patience())) {
        seen.push(`${type} ${object.metadata?.name ?? ''}`);
        if (seen.length === 2) break;
      }
      expect(seen).toEqual(['ADDED b', 'ADDED c']);
      const future = String(Number(third) + 1_000_000);
      const odd = ['', '&limit=1', '&resourceVersionMatch=Exact', '&resourceVersionMatch=NotOlderThan'];
      const replies = await Promise.all(
        odd.map(async (query) => set.of(2).get(`${path}?resourceVersion=${future}${query}`)),
      );
      expect(replies.map(({ status, body }) => [status, body.reason])).toEqual(
        odd.map(() => [504, 'Timeout']),
      );
    }),
  );

  test(
    'a watch from an older version resumes without a gap on a replica that has just started',
    explained(async () => {
      const path = await freshCollection(set.of(0), 'resumed');
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
      for await (const { type, object } of set.of(1).watch(watched, patience())) {
        expect(type).toBe('ADDED');
        seen.push(object.metadata?.resourceVersion);
        if (seen.length === written.length) break;
      }
      expect(seen).toEqual(written);
    }),
  );
});
