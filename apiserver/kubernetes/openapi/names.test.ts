import { loadInDialect } from '../../../shared/testing/load-at-level';
import type * as Names from './names';

describe.each([
  ['orch', 'orch.', 'rbac.authorization.orch'],
  ['kubernetes', 'io.k8s.', 'rbac.authorization.k8s.io'],
])('in the %s dialect', (dialect, prefix, rbac) => {
  let names: typeof Names;

  beforeAll(() => {
    names = loadInDialect(dialect, () => jest.requireActual<typeof Names>('./names'));
  });

  test.each([
    ['core/v1.Pod', 'api.core.v1.Pod'],
    ['rbac/v1beta1.Role', 'api.rbac.v1beta1.Role'],
    ['meta/v1.ObjectMeta', 'apimachinery.pkg.apis.meta.v1.ObjectMeta'],
    ['resource.Quantity', 'apimachinery.pkg.api.resource.Quantity'],
    ['intstr.IntOrString', 'apimachinery.pkg.util.intstr.IntOrString'],
    ['runtime.RawExtension', 'apimachinery.pkg.runtime.RawExtension'],
    ['version.Info', 'apimachinery.pkg.version.Info'],
    ['apiextensions/v1.JSONSchemaProps', 'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'],
    ['apiregistration/v1.APIService', 'kube-aggregator.pkg.apis.apiregistration.v1.APIService'],
  ])('%s is defined as …%s', (message, name) => {
    expect(names.definitionName(message)).toBe(`${prefix}${name}`);
  });

  test('a definition of a custom resource is named by its group in reverse order', () => {
    const message = names.customMessage({ group: 'stable.example.com', version: 'v1' }, 'CronTab');
    expect(message).toBe('stable.example.com/v1.CronTab');
    expect(names.definitionName(message)).toBe('com.example.stable.v1.CronTab');
  });

  test('a group is a single word in tags and ids', () => {
    expect(names.groupTag('')).toBe('core');
    expect(names.groupTag(rbac)).toBe('rbacAuthorization');
    expect(names.groupVersionId(rbac, 'v1')).toBe('RbacAuthorizationV1');
    expect(names.groupVersionId('stable.example.com', 'v1')).toBe('StableExampleComV1');
  });
});
