import { type HaSet, startHaSet } from './support/ha-set';
import { startLocalServer } from './support/local-server';
import { configMap, namespace } from './support/objects';
import { isFullScale, sized } from './support/scale';
import { explained } from './support/workspace';

const STARTS = 5;
const NAMESPACES = 10;
const WRITERS = 32;

describe('from start to ready', () => {
  test(
    'an empty embedded store takes less than a second',
    explained(async () => {
      const took: number[] = [];
      for (let start = 0; start < STARTS; start++) {
        const local = await startLocalServer('orch');
        took.push(local.replica.readyAfterMs());
        await local.stop();
      }
      const median = took.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Infinity;
      report(
        `empty embedded store: ${median.toFixed(0)} ms (median of ${String(STARTS)}, process start included)`,
      );
      // At small scale other suites' leftovers may share the machine.
      expect(median).toBeLessThan(isFullScale ? 1_000 : 3_000);
    }),
  );

  test(
    'a replica on a filled etcd is ready in seconds, and serves all of it',
    explained(async () => {
      const objects = sized({ full: 100_000, small: 5_000 });
      const set = await startHaSet({
        replicas: 1,
        etcd: 1,
        balancer: false,
        controllerManagers: 0,
        dialect: 'orch',
      });
      try {
        await fill(set, objects);
        await set.replicas[0]?.restart();
        const took = set.replicas[0]?.readyAfterMs() ?? Infinity;
        report(`${String(objects)} configmaps in etcd: ${took.toFixed(0)} ms, process start included`);
        const page = await set.of(0).get('/api/v1/configmaps?limit=1&resourceVersion=0');
        expect(page.status).toBe(200);
        const listed = await Promise.all(
          Array.from({ length: NAMESPACES }, (_, index) =>
            set.of(0).get(`${collection(index)}?resourceVersion=0`),
          ),
        );
        expect(listed.reduce((sum, { body }) => sum + (body.items?.length ?? 0), 0)).toBe(objects);
        expect(took).toBeLessThan(10_000);
      } finally {
        await set.stop();
      }
    }),
  );
});

function collection(index: number): string {
  return `/api/v1/namespaces/filled-${String(index)}/configmaps`;
}

async function fill(set: HaSet, objects: number): Promise<void> {
  for (let index = 0; index < NAMESPACES; index++) {
    await set.of(0).create('/api/v1/namespaces', namespace(`filled-${String(index)}`));
  }
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < objects) {
      const index = next++;
      const created = await set
        .of(0)
        .create(collection(index % NAMESPACES), configMap(`c-${String(index)}`, { index: String(index) }));
      if (created.status !== 201) throw new Error(created.text);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

function report(text: string): void {
  process.stdout.write(`  ${text}\n`);
}
