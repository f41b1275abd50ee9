import { loadInDialect } from '../../../shared/testing/load-at-level';
import type * as PolicyObjects from './policy-objects';
import type * as Translate from './translate';
import marks from './data/marks.json';
import objects from './data/objects.json';
import policy from './data/policy.json';
import apiService from './data/api-service.json';

/** Collects every string in a value, including keys. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)]);
}

describe('in the Kubernetes dialect', () => {
  let translated: (typeof Translate)['translated'];
  let identityOf: (typeof PolicyObjects)['identityOf'];

  beforeAll(() => {
    ({ translated, identityOf } = loadInDialect('kubernetes', () => ({
      ...jest.requireActual<typeof Translate>('./translate'),
      ...jest.requireActual<typeof PolicyObjects>('./policy-objects'),
    })));
  });

  test("first objects contain no name of the project's own dialect", () => {
    const { roles, rolebindings, ...clusterWide } = policy;
    const contents = [clusterWide, objects, marks, apiService, roles, rolebindings].map((each) =>
      translated(each),
    );
    const names = [...Object.keys(roles), ...Object.keys(rolebindings)].map((key) => identityOf(key));
    const keys = new Set([...Object.keys(roles), ...Object.keys(rolebindings)]);
    const texts = textsIn([...contents, ...names]).filter((text) => !keys.has(text));
    expect(texts.length).toBeGreaterThan(500);
    expect(texts.filter((text) => /\borch\b/.test(text))).toEqual([]);
  });

  test.each([
    ['controller-manager', 'kube-controller-manager'],
    ['scheduler', 'kube-scheduler'],
    ['dns', 'kube-dns'],
    ['orch-system-service-accounts', 'kube-system-service-accounts'],
    ['system::leader-locking-scheduler', 'system::leader-locking-kube-scheduler'],
    ['system:volume-scheduler', 'system:volume-scheduler'],
    [
      'system:certificates.orch:certificatesigningrequests:nodeclient',
      'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    ],
  ])('%s is called %s', (neutral, kubernetes) => {
    expect(translated(neutral)).toBe(kubernetes);
  });

  test('a name with a namespace is translated as two names', () => {
    expect(identityOf('orch-system/system::leader-locking-controller-manager')).toEqual({
      namespace: 'kube-system',
      name: 'system::leader-locking-kube-controller-manager',
    });
  });
});
