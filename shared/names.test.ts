import { loadInDialect } from './testing/load-at-level';
import type * as Names from './names';
import type * as WorkloadNames from './workload-names';

describe.each([
  [
    'orch',
    'orch-system',
    'coordination.orch',
    'orch.io/metadata.name',
    'rbac.authorization.orch/aggregate-to-edit',
  ],
  [
    'kubernetes',
    'kube-system',
    'coordination.k8s.io',
    'kubernetes.io/metadata.name',
    'rbac.authorization.k8s.io/aggregate-to-edit',
  ],
])('in the %s dialect', (dialect, system, group, label, aggregate) => {
  let names: typeof Names;

  beforeAll(() => {
    names = loadInDialect(dialect, () => jest.requireActual<typeof Names>('./names'));
  });

  test('groups, namespaces and labels are those of the dialect', () => {
    expect(names.dialect).toBe(dialect);
    expect(names.NAMESPACE.system).toBe(system);
    expect(names.GROUP.coordination).toBe(group);
    expect(names.LABEL.metadataName).toBe(label);
    const [, ...suffix] = group.split('.');
    expect(names.WEB_SOCKET_TOKEN_PREFIX).toBe(`base64url.bearer.authorization.${suffix.join('.')}.`);
  });

  test('an exact pair wins over a prefix, and unlisted names stay', () => {
    expect(names.fromNeutral('rbac.authorization.orch/aggregate-to-edit')).toBe(aggregate);
    expect(names.fromNeutral('example.com/x')).toBe('example.com/x');
    expect(names.groupFromNeutral('apps')).toBe('apps');
  });
});

test('in the Kubernetes dialect no label or annotation has a neutral name', () => {
  const words = loadInDialect('kubernetes', () => {
    const names = jest.requireActual<typeof Names>('./names');
    const workloads = jest.requireActual<typeof WorkloadNames>('./workload-names');
    return [names.LABEL, names.ANNOTATION, workloads.WORKLOAD_LABEL, workloads.WORKLOAD_ANNOTATION];
  });
  const neutral = words
    .flatMap((each) => Object.values<string>(each))
    .filter((name) => /\borch[./]/u.test(name));
  expect(neutral).toEqual([]);
});
