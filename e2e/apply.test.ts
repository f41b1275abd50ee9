import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { KubectlResult } from './support/kubectl';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteLocalServer } from './support/suite';

const local = suiteLocalServer('kubernetes');

describe.each(findKubectls())('$title', ({ title, program }) => {
  const run = program === undefined ? test.skip : test;
  const version = title.replaceAll(/\D/gu, '');
  let home: string;

  beforeAll(() => {
    home = path.join(local.dir, `home-${version}`);
    mkdirSync(home, { recursive: true });
  });

  async function kubectl(args: readonly string[], input = ''): Promise<KubectlResult> {
    return runKubectl(program ?? '', args, { kubeconfig: local.replica.kubeconfig, home, input });
  }

  function deployment(name: string, replicas: number, image = 'example.com/web:1'): string {
    return JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: `${name}-${version}` },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: 'web', image, env: [{ name: 'A', value: '1' }] }] },
        },
      },
    });
  }

  async function get(name: string, jsonpath: string): Promise<string> {
    return (await kubectl(['get', 'deployment', `${name}-${version}`, '-o', `jsonpath=${jsonpath}`])).stdout;
  }

  const SERVER_SIDE = ['apply', '--server-side', '-f', '-'];
  const MANAGERS = '{range .metadata.managedFields[*]}{.manager} {.operation}{"\\n"}{end}';

  run('client-side apply can move to server-side apply and back without a conflict', async () => {
    const name = `deployment.apps/moved-${version}`;
    const first = await kubectl(['apply', '-f', '-'], deployment('moved', 2));
    expect(first).toMatchObject({ exitCode: 0, stdout: `${name} created\n` });
    const moved = await kubectl(SERVER_SIDE, deployment('moved', 3, 'example.com/web:2'));
    expect(moved).toMatchObject({ exitCode: 0, stdout: `${name} serverside-applied\n`, stderr: '' });
    expect(await get('moved', '{.spec.replicas} {..image}')).toBe('3 example.com/web:2');
    const back = await kubectl(['apply', '-f', '-'], deployment('moved', 4, 'example.com/web:2'));
    expect(back).toMatchObject({ exitCode: 0, stdout: `${name} configured\n` });
    expect(await get('moved', '{.spec.replicas}')).toBe('4');
  });

  run('a field that another client changed after client-side apply is a conflict', async () => {
    await kubectl(['apply', '-f', '-'], deployment('changed', 2));
    const five = JSON.stringify({ spec: { replicas: 5 } });
    await kubectl(['patch', 'deployment', `changed-${version}`, '--type=merge', '-p', five]);
    const refused = await kubectl(SERVER_SIDE, deployment('changed', 2));
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /Apply failed with 1 conflict: conflict with "kubectl[^\n]*: \.spec\.replicas\n/u,
    );
    expect(await get('changed', '{.spec.replicas}')).toBe('5');
    const forced = await kubectl([...SERVER_SIDE, '--force-conflicts'], deployment('changed', 2));
    expect(forced).toMatchObject({ exitCode: 0 });
    expect(await get('changed', '{.spec.replicas}')).toBe('2');
  });

  run('an apply of the replicas before kubectl scale is a conflict', async () => {
    await kubectl(SERVER_SIDE, deployment('scaled', 2));
    expect(await kubectl(['scale', 'deployment', `scaled-${version}`, '--replicas=5'])).toMatchObject({
      exitCode: 0,
    });
    const refused = await kubectl(SERVER_SIDE, deployment('scaled', 2));
    expect(refused.stderr).toContain(
      'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
    );
    expect(await get('scaled', '{.spec.replicas}')).toBe('5');
  });

  run('diff --server-side and a dry run show the result and change nothing', async () => {
    await kubectl(SERVER_SIDE, deployment('tried', 2));
    const before = await get('tried', '{.metadata.resourceVersion}');
    const diff = await kubectl(['diff', '--server-side', '-f', '-'], deployment('tried', 6));
    expect(diff.exitCode).toBe(1);
    // An older kubectl shows managedFields too, whose time differs after a second.
    expect(diff.stdout.split('\n').filter((line) => /^[-+] (?! *time: )/u.test(line))).toEqual([
      '-  generation: 1',
      '+  generation: 2',
      '-  replicas: 2',
      '+  replicas: 6',
    ]);
    const dry = await kubectl([...SERVER_SIDE, '--dry-run=server'], deployment('tried', 6));
    expect(dry.stdout).toBe(`deployment.apps/tried-${version} serverside-applied (server dry run)\n`);
    const never = await kubectl([...SERVER_SIDE, '--dry-run=server'], deployment('never', 1));
    expect(never).toMatchObject({ exitCode: 0 });
    expect(await get('tried', '{.metadata.resourceVersion}')).toBe(before);
    expect(await kubectl(['get', 'deployment', `never-${version}`])).toMatchObject({ exitCode: 1 });
  });

  run('two managers share one object, each with its own part', async () => {
    const part = (spec: object): string =>
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: `shared-${version}` },
        spec,
      });
    await kubectl(SERVER_SIDE, deployment('shared', 2));
    const other = [...SERVER_SIDE, '--field-manager=tuner', '--validate=false'];
    expect(await kubectl(other, part({ minReadySeconds: 7 }))).toMatchObject({ exitCode: 0 });
    expect(await get('shared', MANAGERS)).toBe('kubectl Apply\ntuner Apply\n');
    await kubectl(SERVER_SIDE, deployment('shared', 3));
    expect(await get('shared', '{.spec.replicas} {.spec.minReadySeconds}')).toBe('3 7');
    expect(await kubectl(other, part({}))).toMatchObject({ exitCode: 0 });
    expect(await get('shared', '{.spec.replicas} {.spec.minReadySeconds}')).toBe('3 ');
    // A manager that applies nothing keeps its entry, as in v1.21.
    expect(await get('shared', MANAGERS)).toBe('kubectl Apply\ntuner Apply\n');
  });
});
