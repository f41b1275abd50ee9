import { createSecretKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AnswerStore } from '../engine/remote/shared-answers';
import { PATIENCE_MS, patience } from '../../shared/testing/eventually';
import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';
import { clusterIdOf } from '../kubernetes/bootstrap/cluster-record';
import { boundAnswers } from './shared-answers';

const dir = mkdtempSync(path.join(tmpdir(), 'shared-answers-'));
afterAll(() => rmSync(dir, { recursive: true }));

function webhookAt(server: string): string {
  const file = path.join(dir, encodeURIComponent(server));
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
      'current-context': 'x',
    }),
  );
  return file;
}

function memoryStore(): AnswerStore {
  const kept = new Map<string, Buffer>();
  return {
    get: async (name) => Promise.resolve(kept.get(name)),
    set: async (name, bytes) => {
      kept.set(name, bytes);
      return Promise.resolve();
    },
  };
}

const SECRET = createSecretKey(Buffer.alloc(32, 'k'));
const URL = 'https://webhook.test/tokens';

interface Replica {
  readonly backend: FaultyMemoryBackend;
  readonly url?: string;
  readonly version?: 'v1' | 'v1beta1';
}

async function answersOfReplica(store: AnswerStore, { backend, url = URL, version = 'v1' }: Replica) {
  const service = { configFile: webhookAt(url), version };
  const clusterId = await clusterIdOf(backend, '/registry', patience());
  return boundAnswers({
    store,
    secret: SECRET,
    clock: { now: () => 1_000 },
    storePrefix: '/registry',
    clusterId,
    services: { tokens: service, access: service },
  });
}

test('a webhook response is shared with replicas on the same store that use the same service, and with no others', async () => {
  const store = memoryStore();
  const backend = new FaultyMemoryBackend();
  const teller = await answersOfReplica(store, { backend });
  teller('tokens').share('question', 'yes', { isGood: true, ttlMs: PATIENCE_MS });
  const heardBy = async (replica: Replica, purpose: 'tokens' | 'access' = 'tokens'): Promise<unknown> => {
    const answers = await answersOfReplica(store, replica);
    return (await answers(purpose).find('question'))?.result;
  };
  expect({
    sameCluster: await heardBy({ backend }),
    otherCluster: await heardBy({ backend: new FaultyMemoryBackend() }),
    otherService: await heardBy({ backend, url: 'https://other.test/tokens' }),
    otherVersion: await heardBy({ backend, version: 'v1beta1' }),
    otherPurpose: await heardBy({ backend }, 'access'),
  }).toEqual({ sameCluster: 'yes' });
});
