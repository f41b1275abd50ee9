import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Dialect } from '../shared/names';
import { DIALECTS } from '../shared/names';
import type { KubectlResult } from './support/kubectl';
import { findKubectls, followKubectl, runKubectl } from './support/kubectl';
import { configMap, deployment, namespace, pod, secret, service } from './support/objects';
import { suiteLocalServer } from './support/suite';

/** The plural name, the singular one kubectl prints, and an object. */
const KINDS: readonly (readonly [string, string, (name: string) => object])[] = [
  ['configmaps', 'configmap', (name) => configMap(name, { text: 'hello' })],
  ['secrets', 'secret', secret],
  ['pods', 'pod', pod],
  ['services', 'service', service],
  ['deployments', 'deployment.apps', deployment],
];

describe.each(DIALECTS)('in the %s dialect', (dialect: Dialect) => {
  const local = suiteLocalServer(dialect);

  for (const { title, program } of findKubectls()) {
    const describeIfFound = program === undefined ? describe.skip : describe;
    const home = (): string => path.join(local.dir, `home of ${title}`);
    const space = `k${title.replaceAll(/\D/gu, '')}`;
    const found = program ?? '';

    async function kubectl(...args: string[]): Promise<KubectlResult> {
      return runKubectl(found, args, { kubeconfig: local.replica.kubeconfig, home: home() });
    }

    async function create(object: object, ...args: string[]): Promise<KubectlResult> {
      return runKubectl(found, ['create', '--validate=false', '-f', '-', ...args], {
        kubeconfig: local.replica.kubeconfig,
        home: home(),
        input: JSON.stringify(object),
      });
    }

    describeIfFound(title, () => {
      beforeAll(async () => {
        mkdirSync(home(), { recursive: true });
        await create(namespace(space));
      });

      test('namespaces are created, listed, labelled and deleted', async () => {
        expect(await create(namespace(`${space}-two`))).toMatchObject({
          exitCode: 0,
          stdout: `namespace/${space}-two created\n`,
        });
        const rows = table((await kubectl('get', 'namespaces')).stdout);
        expect(rows.map((row) => row['NAME'])).toEqual(
          expect.arrayContaining(['default', space, `${space}-two`]),
        );
        expect(await kubectl('label', 'namespace', `${space}-two`, `team=${space}`)).toMatchObject({
          exitCode: 0,
        });
        const labelled = await kubectl('get', 'namespaces', '-l', `team=${space}`, '-o', 'name');
        expect(labelled.stdout).toBe(`namespace/${space}-two\n`);
        expect(await kubectl('delete', 'namespace', `${space}-two`, '--wait=false')).toMatchObject({
          exitCode: 0,
        });
      });

      test('objects of many kinds can be created, read, changed and deleted', async () => {
        const inSpace = ['-n', space];
        const plurals = KINDS.map(([plural]) => plural).join(',');
        const ones = KINDS.map(([, singular]) => `${singular}/one`);
        const items = ['one', 'two'].flatMap((name) => KINDS.map(([, , make]) => make(name)));
        const created = await create({ apiVersion: 'v1', kind: 'List', items }, ...inSpace);
        expect(created).toMatchObject({ exitCode: 0 });
        for (const one of ones) expect(created.stdout).toContain(`${one} created\n`);

        for (const [plural] of KINDS) {
          const [row] = table((await kubectl('get', plural, 'one', ...inSpace)).stdout);
          expect(row).toMatchObject({ NAME: 'one', AGE: expect.stringMatching(/^\d+m?s$/u) });
        }
        const everywhere = (await kubectl('get', plurals, '-A')).stdout.split('\n\n').flatMap(table);
        for (const [, singular] of KINDS)
          expect(everywhere).toEqual(
            expect.arrayContaining([
              expect.objectContaining({ NAMESPACE: space, NAME: `${singular}/one` }),
              expect.objectContaining({ NAMESPACE: space, NAME: `${singular}/two` }),
            ]),
          );
        const yaml = (await kubectl('get', ...ones, '-o', 'yaml', ...inSpace)).stdout;
        expect(yaml).toMatch(/^apiVersion: v1\nitems:\n- apiVersion: v1\n {2}data/u);
        expect(
          yaml.match(/\n {4}name: one\n {4}namespace: \S+\n {4}resourceVersion: "\d+"\n/gu),
        ).toHaveLength(ones.length);

        expect(await kubectl('label', ...ones, 'color=red', ...inSpace)).toMatchObject({ exitCode: 0 });
        expect(await kubectl('annotate', ...ones, 'note=kept', ...inSpace)).toMatchObject({ exitCode: 0 });
        const selected = await kubectl('get', plurals, '-l', 'color=red', '-o', 'json', ...inSpace);
        expect(JSON.parse(selected.stdout)).toMatchObject({
          items: ones.map(() => ({
            metadata: { name: 'one', labels: { color: 'red' }, annotations: { note: 'kept' } },
          })),
        });

        const deleted = await kubectl('delete', ...ones, ...inSpace);
        expect(deleted.exitCode).toBe(0);
        expect(deleted.stdout.match(/"one" deleted/gu)).toHaveLength(ones.length);
        const absent = await kubectl('get', ...ones, ...inSpace);
        expect(absent.exitCode).toBe(1);
        expect(absent.stderr.match(/\(NotFound\)/gu)).toHaveLength(ones.length);
        expect(await kubectl('delete', plurals, '--all', ...inSpace)).toMatchObject({ exitCode: 0 });
        expect((await kubectl('get', plurals, '-o', 'name', ...inSpace)).stdout).toBe('');
      });

      test('get --watch prints every change', async () => {
        const args = [
          'get',
          'configmaps',
          '-n',
          space,
          '--watch',
          '-o',
          'name',
          '--field-selector=metadata.name=seen',
        ];
        const watching = followKubectl(found, args, { kubeconfig: local.replica.kubeconfig, home: home() });
        try {
          await create(configMap('seen'), '-n', space);
          expect(await watching.lines.next()).toMatchObject({ value: 'configmap/seen' });
          await kubectl('label', 'configmap', 'seen', 'color=red', '-n', space);
          expect(await watching.lines.next()).toMatchObject({ value: 'configmap/seen' });
        } finally {
          watching.stop();
        }
      });

      test('api-resources, version and readyz describe the server', async () => {
        const resources = await kubectl('api-resources', '--no-headers', '-o', 'name');
        expect(resources).toMatchObject({ exitCode: 0, stderr: '' });
        expect(resources.stdout.split('\n')).toEqual(
          expect.arrayContaining([
            ...KINDS.map(([plural]) => plural).filter((it) => it !== 'deployments'),
            'namespaces',
            'deployments.apps',
          ]),
        );
        const version = await kubectl('version', '-o', 'json');
        expect(JSON.parse(version.stdout)).toMatchObject({ serverVersion: { major: '1', minor: '21' } });
        const ready = await kubectl('get', '--raw', '/readyz?verbose');
        expect(ready).toMatchObject({
          exitCode: 0,
          stdout: expect.stringMatching(/^\[\+\]ping ok\n(?:\[\+\].* ok\n)+healthz check passed\n$/u),
        });
        const store = dialect === 'kubernetes' ? 'etcd' : 'store';
        for (const check of [store, 'poststarthook/bootstrap-controller', 'autoregister-completion']) {
          expect(ready.stdout).toContain(`[+]${check} ok\n`);
          expect(await kubectl('get', '--raw', `/readyz/${check}`)).toMatchObject({ stdout: 'ok' });
        }
        const excluded = await kubectl('get', '--raw', '/readyz?verbose&exclude=shutdown&exclude=stor');
        expect(excluded.stdout).toContain('[+]shutdown excluded: ok\n');
        expect(excluded.stdout).toContain(
          'warn: some health checks cannot be excluded: no matches for "stor"\n',
        );
      });
    });
  }
});

/** The rows of a kubectl table, by column name. Columns are aligned, and their names hold no double spaces. */
function table(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = '', ...rows] = text.split('\n').filter((line) => line !== '');
  const columns = [...header.matchAll(/\S+(?: \S+)*/gu)].map(({ 0: name, index }) => ({ name, index }));
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, index }, position) => [
        name,
        row.slice(index, columns[position + 1]?.index).trim(),
      ]),
    ),
  );
}
