import type { HaSet } from './support/ha-set';
import { startHaSet } from './support/ha-set';
import { configMap, namespace } from './support/objects';
import { sized } from './support/scale';
import { explained } from './support/workspace';

const NAMESPACES = 10;
const WRITERS = 32;

describe('a start', () => {
  test(
    'a replica on a filled etcd serves all objects as soon as it is ready',
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
        const page = await set.of(0).get('/api/v1/configmaps?limit=1&resourceVersion=0');
        expect(page.status).toBe(200);
        const listed = await Promise.all(
          Array.from({ length: NAMESPACES }, (_, index) =>
            set.of(0).get(`${collection(index)}?resourceVersion=0`),
          ),
        );
        expect(listed.reduce((sum, { body }) => sum + (body.items?.length ?? 0), 0)).toBe(objects);
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
