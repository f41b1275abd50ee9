import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';
import path from 'node:path';
import { ensureCredentials } from '../deploy/local/credentials';
import { eventually } from '../shared/testing/eventually';
import type { LocalServer } from './support/local-server';
import { startLocalServer } from './support/local-server';
import { findKubectls, followKubectl, runKubectl } from './support/kubectl';
import { configMap } from './support/objects';
import { explained } from './support/workspace';

describe('over HTTP/2', () => {
  let local: LocalServer;
  beforeAll(
    explained(async () => {
      local = await startLocalServer('kubernetes');
    }),
  );
  afterAll(async () => {
    await local.stop();
  });

  test('many watches share one connection', async () => {
    const { server, caFile } = local.replica;
    const { adminToken } = ensureCredentials(local.dir);
    const session = connect(server, { ca: readFileSync(caFile) });
    const headers = { authorization: `Bearer ${adminToken}` };
    const watches = Array.from({ length: 100 }, () => {
      const stream = session.request({
        ...headers,
        ':path': '/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Dshared',
      });
      return { stream, response: once(stream, 'response'), data: once(stream, 'data') };
    });
    await Promise.all(watches.map(async ({ response }) => response));
    const created = session.request({
      ...headers,
      ':method': 'POST',
      ':path': '/api/v1/namespaces/default/configmaps',
      'content-type': 'application/json',
    });
    created.end(JSON.stringify(configMap('shared')));
    const events = await Promise.all(watches.map(async ({ data }) => String((await data)[0])));
    expect(events.filter((event) => event.startsWith('{"type":"ADDED"'))).toHaveLength(100);
    session.destroy();
  });

  test('cancelled watches leave the gauge, and their connection stays open', async () => {
    const { client } = local.replica;
    const own = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const counted = async (): Promise<number> => {
      const { text } = await client.get('/metrics');
      return Number(
        /^apiserver_registered_watchers\{[^}]*PodDisruptionBudget[^}]*\} (\d+)$/mu.exec(text)?.[1],
      );
    };
    const { server, caFile } = local.replica;
    const { adminToken } = ensureCredentials(local.dir);
    const session = connect(server, { ca: readFileSync(caFile) });
    const headers = { authorization: `Bearer ${adminToken}` };
    for (let round = 1; round <= 3; round += 1) {
      const streams = Array.from({ length: 50 }, () =>
        session.request({ ...headers, ':path': `${own}?watch=1` }),
      );
      await Promise.all(streams.map(async (stream) => once(stream, 'response')));
      expect(await counted()).toBe(50);
      for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
      await eventually('no watch is counted', async () => (await counted()) === 0);
    }
    const [answer] = (await once(session.request({ ...headers, ':path': own }), 'response')) as [object];
    expect(answer).toMatchObject({ ':status': 200 });
    session.destroy();
  });

  for (const { title, program } of findKubectls()) {
    const run = program === undefined ? test.skip : test;
    run(`${title} creates, watches and deletes`, async () => {
      const home = path.join(local.dir, `home of ${title}`);
      mkdirSync(home, { recursive: true });
      const options = { kubeconfig: local.replica.kubeconfig, home };
      const name = `of-${title.replaceAll(/\W/gu, '-')}`;
      const found = program ?? '';
      const watch = ['get', 'configmaps', '--watch', '-o', 'name', `--field-selector=metadata.name=${name}`];
      const watching = followKubectl(found, watch, options);
      try {
        const made = await runKubectl(found, ['create', 'configmap', name], options);
        expect(made).toMatchObject({ exitCode: 0, stdout: `configmap/${name} created\n` });
        expect(await watching.lines.next()).toMatchObject({ value: `configmap/${name}` });
        expect(await runKubectl(found, ['delete', 'configmap', name], options)).toMatchObject({
          exitCode: 0,
        });
      } finally {
        watching.stop();
      }
    });

    run(`${title} with impersonation is not executed as its own user`, async () => {
      const home = path.join(local.dir, `other home of ${title}`);
      mkdirSync(home, { recursive: true });
      const options = { kubeconfig: local.replica.kubeconfig, home };
      const list = ['get', 'configmaps', '--all-namespaces'];
      expect(await runKubectl(program ?? '', list, options)).toMatchObject({ exitCode: 0 });
      for (const other of [['--as=bob'], ['--as=bob '], ['--as=bob', '--as-group=system:masters ']]) {
        const { exitCode, stdout } = await runKubectl(program ?? '', [...list, ...other], options);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      }
    });
  }
});
