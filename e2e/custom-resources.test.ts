import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { KubectlResult } from './support/kubectl';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteLocalServer } from './support/suite';

const local = suiteLocalServer('kubernetes');

const SCHEMA = {
  type: 'object',
  description: 'Runs something now and then.',
  properties: {
    spec: {
      type: 'object',
      required: ['cron'],
      properties: {
        cron: { type: 'string', description: 'When it runs.' },
        image: { type: 'string' },
        replicas: { type: 'integer', minimum: 0, default: 1 },
        since: { type: 'string', format: 'date-time' },
        anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
    },
  },
};

const COLUMNS = [
  { name: 'Cron', type: 'string', jsonPath: '.spec.cron' },
  { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
  { name: 'Image', type: 'string', jsonPath: '.spec.image', priority: 1 },
  { name: 'Since', type: 'date', jsonPath: '.spec.since' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

describe.each(findKubectls())('$title', ({ title, program }) => {
  const run = program === undefined ? test.skip : test;
  const version = title.replaceAll(/\D/gu, '');
  const group = `stable${version}.example.com`;
  const crontabs = `crontabs.${group}`;
  let home: string;

  async function kubectl(args: readonly string[], input?: object): Promise<KubectlResult> {
    const options = { kubeconfig: local.replica.kubeconfig, home };
    const text = input === undefined ? {} : { input: JSON.stringify(input) };
    return runKubectl(program ?? '', args, { ...options, ...text });
  }

  function cronTab(name: string, spec: object): object {
    return { apiVersion: `${group}/v1`, kind: 'CronTab', metadata: { name }, spec };
  }

  beforeAll(async () => {
    if (program === undefined) return;
    home = path.join(local.dir, `home-${version}`);
    mkdirSync(home, { recursive: true });
    // Without this, kubectl would use its discovery cache from before the definition.
    await kubectl(['api-resources']);
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: crontabs },
      spec: {
        group,
        scope: 'Namespaced',
        names: {
          plural: 'crontabs',
          singular: 'crontab',
          kind: 'CronTab',
          shortNames: ['ct'],
          categories: ['all'],
        },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: SCHEMA },
            additionalPrinterColumns: COLUMNS,
            subresources: {
              status: {},
              scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
                labelSelectorPath: '.status.selector',
              },
            },
          },
        ],
      },
    };
    expect(await kubectl(['apply', '-f', '-'], definition)).toMatchObject({
      exitCode: 0,
      stdout: `customresourcedefinition.apiextensions.k8s.io/${crontabs} created\n`,
    });
    const wait = ['wait', '--for', 'condition=established', '--timeout=20s', `crd/${crontabs}`];
    expect(await kubectl(wait)).toMatchObject({ exitCode: 0 });
  });

  run('a definition is listed, and its resource is among the API resources', async () => {
    const definitions = (await kubectl(['get', 'crd', crontabs])).stdout;
    expect(definitions).toMatch(
      new RegExp(`^NAME +CREATED AT\n${crontabs} +\\d{4}-\\d\\d-\\d\\dT\\S+Z\n$`, 'u'),
    );
    const resources = await kubectl(['api-resources', `--api-group=${group}`, '--no-headers']);
    expect(resources.stdout).toMatch(
      new RegExp(`^crontabs +ct +(${group}/v1|${group}) +true +CronTab\n$`, 'u'),
    );
    const versions = (await kubectl(['api-versions'])).stdout.split('\n');
    expect(versions).toContain(`${group}/v1`);
    const available = await kubectl(['get', 'apiservice', `v1.${group}`]);
    expect(available).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/Local +True/u) });
  });

  run('objects are applied, listed under every name with their columns, and deleted', async () => {
    const one = cronTab('one', { cron: '* * * * */5', image: 'my-image', since: '2020-01-01T00:00:00Z' });
    expect(await kubectl(['apply', '-f', '-'], one)).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: `crontab.${group}/one created\n`,
    });
    expect((await kubectl(['apply', '-f', '-'], one)).stdout).toBe(`crontab.${group}/one unchanged\n`);
    for (const name of [crontabs, `crontab.${group}`, `crontabs.v1.${group}`, `ct.${group}`]) {
      const { stdout } = await kubectl(['get', name]);
      expect(stdout).toMatch(
        /^NAME +CRON +REPLICAS +SINCE +AGE\none +\* \* \* \* \*\/5 +1 +\d+[yd]\S* +\d+s\n$/u,
      );
    }
    const wide = (await kubectl(['get', crontabs, '-o', 'wide'])).stdout;
    expect(wide).toMatch(/^NAME +CRON +REPLICAS +IMAGE +SINCE +AGE\none .* my-image .*\n$/u);
    expect((await kubectl(['get', 'all', '-o', 'name'])).stdout).toContain(`crontab.${group}/one\n`);
    expect((await kubectl(['delete', crontabs, 'one'])).stdout).toMatch(/"one" deleted/u);
    expect((await kubectl(['get', crontabs])).stderr).toMatch(/^No resources found/u);
  });

  run('an invalid object is refused by kubectl or by the server', async () => {
    const wrong = await kubectl(['apply', '-f', '-'], cronTab('wrong', { cron: '*', nonsense: 1 }));
    expect(wrong).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/unknown field "(spec\.)?nonsense"/u),
    });
    const type = await kubectl(['apply', '-f', '-'], cronTab('wrong', { cron: 1 }));
    expect(type).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/spec\.cron/u) });
    const absent = await kubectl(['apply', '-f', '-'], cronTab('wrong', { replicas: 1 }));
    expect(absent).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/cron/u) });
    const free = cronTab('free', { cron: '*', anything: { goes: { here: [1] } } });
    expect(await kubectl(['apply', '-f', '-'], free)).toMatchObject({ exitCode: 0, stderr: '' });
    const unchecked = cronTab('unchecked', { cron: '*', nonsense: 1 });
    expect(await kubectl(['apply', '--validate=false', '-f', '-'], unchecked)).toMatchObject({ exitCode: 0 });
    const { stdout } = await kubectl(['get', crontabs, 'unchecked', '-o', 'jsonpath={.spec}']);
    expect(JSON.parse(stdout)).toEqual({ cron: '*', replicas: 1 });
  });

  run('explain prints the descriptions of the definition', async () => {
    const explain = ['explain', `--api-version=${group}/v1`];
    const kind = await kubectl([...explain, 'crontabs']);
    expect(kind.stdout).toMatch(/KIND: +CronTab\n/u);
    expect(kind.stdout).toMatch(/DESCRIPTION:\n +Runs something now and then\.\n/u);
    expect(kind.stdout).toMatch(/\n +metadata\s+<\S*Object\S*>/u);
    const field = await kubectl([...explain, 'crontabs.spec.cron']);
    expect(field).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('When it runs.') });
    expect(field.stdout).toMatch(/FIELD: +cron <string>/u);
  });

  run('scale, patch, diff and server-side apply work as on built-in kinds', async () => {
    const spec = { cron: '0', image: 'a' };
    await kubectl(['create', '-f', '-'], cronTab('two', spec));
    const scaled = await kubectl(['scale', '--replicas=4', `${crontabs}/two`]);
    expect(scaled).toMatchObject({ exitCode: 0, stdout: `crontab.${group}/two scaled\n` });
    const replicas = ['get', crontabs, 'two', '-o', 'jsonpath={.spec.replicas}'];
    expect((await kubectl(replicas)).stdout).toBe('4');
    const patch = ['patch', crontabs, 'two', '--type=merge', '-p', '{"spec":{"image":"b"}}'];
    expect(await kubectl(patch)).toMatchObject({ exitCode: 0 });
    const strategic = await kubectl(['patch', crontabs, 'two', '-p', '{"spec":{"image":"c"}}']);
    expect(strategic).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/UnsupportedMediaType|application\/strategic/u),
    });
    const diff = await kubectl(['diff', '-f', '-'], cronTab('two', { ...spec, image: 'd' }));
    expect(diff).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/\n- +image: b\n\+ +image: d\n/u),
    });
    const apply = ['apply', '--server-side', '--field-manager=me', '-f', '-'];
    const conflict = await kubectl(apply, cronTab('two', { ...spec, image: 'e' }));
    expect(conflict).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('.spec.image') });
    const forced = await kubectl([...apply, '--force-conflicts'], cronTab('two', { ...spec, image: 'e' }));
    expect(forced).toMatchObject({ exitCode: 0, stdout: `crontab.${group}/two serverside-applied\n` });
    expect((await kubectl(['get', crontabs, 'two', '-o', 'jsonpath={.spec.image}'])).stdout).toBe('e');
  });

  run('deleting the definition deletes its objects and its resource', async () => {
    await kubectl(['create', '-f', '-'], cronTab('last', { cron: '0' }));
    expect(await kubectl(['delete', 'crd', crontabs])).toMatchObject({ exitCode: 0 });
    const gone = await kubectl(['get', '--raw', `/apis/${group}/v1/crontabs`]);
    expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/NotFound|could not find/u) });
    const resources = await kubectl(['api-resources', `--api-group=${group}`, '--no-headers']);
    expect(resources.stdout).toBe('');
  });
});
