import { History } from '../record/history';
import { BASE, madeHistory } from '../testing/hand-made';
import { checkAddresses, checkQuota } from './allocations';

type MadeService = readonly [revision: number, name: string, clusterIP?: string, nodePort?: number];

function services(...made: readonly MadeService[]): History {
  const history = new History(BASE);
  for (const [revision, name, clusterIP, nodePort] of made) {
    const spec = { clusterIP, ports: nodePort === undefined ? [] : [{ nodePort }] };
    const isDeletion = clusterIP === undefined;
    const value = Buffer.from(isDeletion ? '' : JSON.stringify({ spec }));
    history.take({ key: `/registry/core/services/default/${name}`, revision, isDeletion, value });
  }
  return history;
}

test('an address may be given again when its service is gone, and kept when it changes', () => {
  const history = services(
    [101, 'a', '10.0.0.1', 30_000],
    [102, 'b', '10.0.0.2', 30_001],
    [103, 'a', '10.0.0.1', 30_002],
    [104, 'c', '10.0.0.3', 30_000],
    [105, 'b'],
    [106, 'd', '10.0.0.2', 30_001],
    [107, 'e', 'None'],
    [108, 'f', 'None'],
  );
  expect(checkAddresses(history)).toEqual([]);
});

test.each<[string, readonly MadeService[]]>([
  [
    'an address',
    [
      [101, 'a', '10.0.0.1'],
      [102, 'b', '10.0.0.1'],
    ],
  ],
  [
    'a node port',
    [
      [101, 'a', '10.0.0.1', 30_000],
      [102, 'b', '10.0.0.2', 30_000],
    ],
  ],
])('%s that two services hold is found', (_what, made) => {
  expect(checkAddresses(services(...made))).toHaveLength(1);
});

test('a quota is kept as long as there are never too many at once', () => {
  const quota = [{ resource: 'configmaps', namespace: 'q', hard: 2 }];
  const [a, b, c] = ['a', 'b', 'c'].map((name) => `configmaps/q/${name}`) as [string, string, string];
  const kept = madeHistory([101, a, '1'], [102, b, '2'], [103, a, '3'], [104, a], [105, c, '4']);
  expect(checkQuota(kept, quota)).toEqual([]);
  const exceeded = madeHistory([101, a, '1'], [102, b, '2'], [103, c, '3'], [104, a]);
  expect(checkQuota(exceeded, quota)).toHaveLength(1);
});
