import { RESOURCES } from '../../../shared/api/resources';
import { GROUP } from '../../../shared/names';
import { deprecationOf, createRegistry } from './registry';
import { isEnabled, parseRuntimeConfig } from './runtime-config';
import { servedDefinitions } from '../../kubernetes/kinds/served';

function config(...items: readonly string[]): ReadonlyMap<string, boolean> {
  const parsed = parseRuntimeConfig(items);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return parsed.config;
}

const cronJobs = { group: GROUP.batch, version: 'v1beta1', resource: 'cronjobs', isServedByDefault: true };
const jobs = { group: GROUP.batch, version: 'v1', resource: 'jobs', isServedByDefault: true };
const alpha = { group: GROUP.rbac, version: 'v1alpha1', resource: 'roles', isServedByDefault: false };
const ingresses = {
  group: GROUP.extensions,
  version: 'v1beta1',
  resource: 'ingresses',
  isServedByDefault: true,
};

describe('--runtime-config', () => {
  test('without it everything but alpha versions is served', () => {
    expect([cronJobs, jobs, alpha].map((each) => isEnabled(config(), each))).toEqual([true, true, false]);
  });

  test('a missing value means true', () => {
    expect(isEnabled(config(`${GROUP.rbac}/v1alpha1`), alpha)).toBe(true);
  });

  test.each([
    ['api/all=true', [true, true, true]],
    ['api/alpha=true', [true, true, true]],
    ['api/beta=false', [false, true, false]],
    ['api/ga=0', [true, false, false]],
    ['batch/v1=false', [true, false, false]],
  ])('%s switches versions', (item, expected) => {
    expect([cronJobs, jobs, alpha].map((each) => isEnabled(config(item), each))).toEqual(expected);
  });

  test('a version overrides a stability, and a stability overrides all', () => {
    const chosen = config('api/all=false', 'api/beta=true', 'batch/v1beta1=false', 'batch/v1');
    expect([cronJobs, jobs, ingresses].map((each) => isEnabled(chosen, each))).toEqual([false, true, true]);
  });

  test('a single resource can be switched in extensions/v1beta1 only', () => {
    expect(isEnabled(config('extensions/v1beta1/ingresses=false'), ingresses)).toBe(false);
    const parsed = parseRuntimeConfig(['batch/v1/jobs=false']);
    expect(parsed).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('batch/v1/jobs is ignored')],
    });
    expect(parsed.ok && isEnabled(parsed.config, jobs)).toBe(true);
  });

  test('a version of another API level is accepted with a warning', () => {
    expect(parseRuntimeConfig(['autoscaling/v2=true'])).toEqual({
      ok: true,
      config: new Map(),
      warnings: ['--runtime-config: autoscaling/v2 belongs to another API level and has no effect'],
    });
  });

  test.each([
    ['v1', 'invalid key v1'],
    ['a/b/c/d', 'invalid key a/b/c/d'],
    ['nope/v1', 'unknown API group nope'],
    ['batch/v9', 'no version v9 of the group batch'],
    // The example of old documentation; v1.21 has dropped it.
    ['batch/v2alpha1', 'no version v2alpha1 of the group batch'],
    ['batch/v1=maybe', 'must be true or false, not "maybe"'],
    ['api/all=false', 'nothing would be served'],
  ])('%s is an error', (item, message) => {
    expect(parseRuntimeConfig([item])).toEqual({ ok: false, errors: [expect.stringContaining(message)] });
  });

  test('a version that is off is not in the registry, and its objects stay reachable through the others', () => {
    const registry = createRegistry(servedDefinitions(config('policy/v1=false')), 1);
    expect(registry.endpointsOf(GROUP.policy, 'v1')).toEqual([]);
    const budgets = registry.endpoint(GROUP.policy, 'v1beta1', 'poddisruptionbudgets');
    expect(budgets?.stored.version).toBe('v1');
    expect([...(budgets?.versions.keys() ?? [])]).toEqual(['policy/v1beta1']);
  });
});

test('versions of one kind share a stored resource', () => {
  const registry = createRegistry(servedDefinitions(config('api/all')), 1);
  const core = registry.endpoint(GROUP.core, 'v1', 'events');
  const events = registry.endpoint(GROUP.events, 'v1beta1', 'events');
  expect(events?.stored).toBe(core?.stored);
  const prefixes = registry.stored.map(({ keyPrefix }) => keyPrefix);
  expect(new Set(prefixes).size).toBe(prefixes.length);
});

describe('deprecation', () => {
  const warningOf = (schema: string): string | undefined => {
    const row = RESOURCES.find((each) => each.schema === schema);
    if (row === undefined) throw new Error(`no row ${schema}`);
    return deprecationOf(row);
  };

  test('the warning names the releases and the replacement', () => {
    expect(warningOf('extensions/v1beta1.Ingress')).toBe(
      `extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use ${GROUP.networking}/v1 Ingress`,
    );
    expect(warningOf('policy/v1beta1.PodSecurityPolicy')).toBe(
      'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+',
    );
  });

  test('a version that a later release deprecates is not deprecated yet', () => {
    expect(warningOf('autoscaling/v2beta2.HorizontalPodAutoscaler')).toBeUndefined();
    expect(warningOf('apps/v1.Deployment')).toBeUndefined();
  });
});
