import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteLocalServer } from './support/suite';

/** Commands that send Protobuf for groups with the same name in both dialects, and their output. */
const COMMANDS: readonly (readonly [command: string, printed: string])[] = [
  ['create configmap settings --from-literal=a=b', 'configmap/settings created'],
  ['create secret generic password --from-literal=a=b', 'secret/password created'],
  ['create serviceaccount worker', 'serviceaccount/worker created'],
  ['create quota limits --hard=pods=10', 'resourcequota/limits created'],
  ['create deployment web --image=nginx --replicas=2 --port=80', 'deployment.apps/web created'],
  ['run one --image=nginx --port=80', 'pod/one created'],
  ['create job once --image=busybox', 'job.batch/once created'],
  ['create cronjob often --image=busybox --schedule=*/5_*_*_*_*', 'cronjob.batch/often created'],
  ['expose deployment web --port=80 --name=web', 'service/web exposed'],
  ['create service clusterip plain --tcp=80:80', 'service/plain created'],
  ['scale deployment web --replicas=3', 'deployment.apps/web scaled'],
  ['autoscale deployment web --min=1 --max=5', 'horizontalpodautoscaler.autoscaling/web autoscaled'],
  ['set image deployment/web nginx=nginx:2', 'deployment.apps/web image updated'],
  ['set env deployment/web A=B', 'deployment.apps/web env updated'],
  ['set resources deployment/web --limits=cpu=1', 'deployment.apps/web resource requirements updated'],
  ['rollout pause deployment/web', 'deployment.apps/web paused'],
  ['rollout resume deployment/web', 'deployment.apps/web resumed'],
  ['rollout restart deployment/web', 'deployment.apps/web restarted'],
];

const local = suiteLocalServer('orch');

for (const { title, program } of findKubectls()) {
  const describeIfFound = program === undefined ? describe.skip : describe;
  describeIfFound(`${title}, as it is, in the project's own dialect`, () => {
    const home = (): string => path.join(local.dir, `home of ${title}`);
    const space = `own-${title.replaceAll(/\D/gu, '')}`;
    const kubectl = async (...args: readonly string[]) =>
      runKubectl(program ?? '', args, { kubeconfig: local.replica.kubeconfig, home: home() });

    beforeAll(async () => {
      mkdirSync(home(), { recursive: true });
    });

    test('creates, exposes, scales and changes objects of groups that both dialects share', async () => {
      expect(await kubectl('create', 'namespace', space)).toMatchObject({
        stdout: `namespace/${space} created\n`,
      });
      for (const [command, printed] of COMMANDS) {
        const words = command.split(' ').map((word) => word.replaceAll('_', ' '));
        const { stdout, stderr } = await kubectl('-n', space, ...words);
        expect([command, stdout, stderr]).toEqual([command, `${printed}\n`, expect.any(String)]);
      }
      const web = JSON.parse((await kubectl('-n', space, 'get', 'deployment', 'web', '-o', 'json')).stdout);
      expect(web).toMatchObject({
        spec: { replicas: 3, template: { spec: { containers: [{ image: 'nginx:2' }] } } },
      });
    });

    test('get prints the columns of each kind', async () => {
      const { stdout } = await kubectl('-n', space, 'get', 'deployment,quota');
      expect(stdout).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\ndeployment\.apps\/web +0\/3 /u);
      expect(stdout).toMatch(/^NAME +AGE +REQUEST +LIMIT *\nresourcequota\/limits /mu);
    });
  });
}
