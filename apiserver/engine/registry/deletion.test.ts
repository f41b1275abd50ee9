import { FINALIZER } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { DeleteOptions } from './deletion';
import { isFinished, planDeletion } from './deletion';
import { kindOf } from '../../kubernetes/kinds/kinds';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const NONE: DeleteOptions = { dryRun: false };

function configMap(metadata: ApiObject['metadata'] = {}): ApiObject {
  return { metadata: { name: 'a', uid: 'u', ...metadata } };
}

function pod(fields: { spec?: object; status?: object; metadata?: ApiObject['metadata'] } = {}): ApiObject {
  return {
    metadata: { name: 'p', uid: 'u', ...fields.metadata },
    spec: { nodeName: 'n', ...fields.spec },
    status: fields.status ?? {},
  };
}

const { strategy: pods = {} } = kindOf('', 'pods');
const { strategy: namespaces = {} } = kindOf('', 'namespaces');

describe('a kind without a grace period', () => {
  test('is removed at once if nothing holds it', () => {
    expect(planDeletion(configMap(), {}, NONE, NOW).kind).toBe('remove');
  });

  test('is removed as it was stored, with the finalizers that the deletion would have removed', () => {
    const stored = configMap({ finalizers: [FINALIZER.foregroundDeletion] });
    const plan = planDeletion(stored, {}, { dryRun: false, orphanDependents: false }, NOW);
    expect(plan).toEqual({ kind: 'remove', object: stored });
  });

  test('is marked, with grace 0, while a finalizer holds it', () => {
    const plan = planDeletion(configMap({ finalizers: ['x.example.com/y'] }), {}, NONE, NOW);
    expect(plan.kind).toBe('mark');
    expect(plan.object.metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      finalizers: ['x.example.com/y'],
    });
  });

  test('increments the generation when it is marked, not with further deletions', () => {
    const first = planDeletion(configMap({ finalizers: ['x.example.com/y'], generation: 3 }), {}, NONE, NOW);
    const second = planDeletion(first.object, {}, NONE, NOW + 60_000);
    expect(first.object.metadata.generation).toBe(4);
    expect(second.object).toEqual(first.object);
  });
});

describe('propagation', () => {
  test.each([
    ['Orphan', [FINALIZER.orphan]],
    ['Foreground', [FINALIZER.foregroundDeletion]],
  ])(
    '%s is recorded as a finalizer, and the object waits for its dependents',
    (propagationPolicy, finalizers) => {
      const plan = planDeletion(configMap(), {}, { ...NONE, propagationPolicy }, NOW);
      expect(plan.kind).toBe('mark');
      expect(plan.object.metadata.finalizers).toEqual(finalizers);
    },
  );

  test('Background overrides an earlier policy', () => {
    const terminating = configMap({ finalizers: [FINALIZER.foregroundDeletion] });
    const plan = planDeletion(terminating, {}, { ...NONE, propagationPolicy: 'Background' }, NOW);
    expect(plan.kind).toBe('remove');
  });

  test('without options the default of the kind applies, but an earlier policy stays', () => {
    const strategy = { defaultPropagation: 'Orphan' } as const;
    expect(planDeletion(configMap(), strategy, NONE, NOW).object.metadata.finalizers).toEqual([
      FINALIZER.orphan,
    ]);
    const chosen = configMap({ finalizers: [FINALIZER.foregroundDeletion] });
    expect(planDeletion(chosen, strategy, NONE, NOW).object.metadata.finalizers).toEqual([
      FINALIZER.foregroundDeletion,
    ]);
  });

  test('a kind that does not support it never gets a finalizer', () => {
    const strategy = { defaultPropagation: 'Unsupported' } as const;
    expect(planDeletion(configMap(), strategy, { ...NONE, propagationPolicy: 'Orphan' }, NOW).kind).toBe(
      'remove',
    );
  });
});

describe('pods', () => {
  test.each([
    ['no node has it', pod({ spec: { nodeName: '' } })],
    ['it has finished', pod({ status: { phase: 'Succeeded' } })],
  ])('is marked with grace period 0, and then removed, if %s', (_why, object) => {
    const plan = planDeletion(object, pods, NONE, NOW);
    expect(plan.kind).toBe('mark');
    expect(plan.object.metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    });
    expect(isFinished(plan.object, pods)).toBe(true);
    expect(planDeletion(plan.object, pods, NONE, NOW).kind).toBe('remove');
  });

  test('a grace period beyond 292 years overflows as in upstream', () => {
    const plan = planDeletion(pod(), pods, { ...NONE, gracePeriodSeconds: Number.MAX_SAFE_INTEGER }, NOW);
    expect(plan.kind).toBe('mark');
    expect(plan.object.metadata.deletionGracePeriodSeconds).toBe(Number.MAX_SAFE_INTEGER);
    expect(Date.parse(plan.object.metadata.deletionTimestamp ?? '')).toBeGreaterThan(0);
  });

  test.each([
    [undefined, {}, 30],
    [undefined, { terminationGracePeriodSeconds: 7 }, 7],
    [5, { terminationGracePeriodSeconds: 7 }, 5],
  ])('on a node gets its grace period (requested %p, spec %p)', (gracePeriodSeconds, spec, seconds) => {
    const options = gracePeriodSeconds === undefined ? NONE : { ...NONE, gracePeriodSeconds };
    const plan = planDeletion(pod({ spec }), pods, options, NOW);
    expect(plan.kind).toBe('mark');
    expect(plan.object.metadata.deletionGracePeriodSeconds).toBe(seconds);
    expect(Date.parse(plan.object.metadata.deletionTimestamp ?? '')).toBe(NOW + seconds * 1000);
  });

  test('a pod held by a finalizer after its grace period accepts another propagation policy', () => {
    const held = pod({
      metadata: {
        deletionTimestamp: '2029-12-31T00:00:00Z',
        deletionGracePeriodSeconds: 0,
        finalizers: [FINALIZER.foregroundDeletion],
      },
    });
    const again = planDeletion(held, pods, { ...NONE, propagationPolicy: 'Orphan' }, NOW);
    expect(again.kind).toBe('mark');
    expect(again.object.metadata).toEqual({ ...held.metadata, finalizers: [FINALIZER.orphan] });
    expect(planDeletion(held, pods, { ...NONE, propagationPolicy: 'Background' }, NOW).kind).toBe('remove');
    expect(planDeletion(held, pods, NONE, NOW).object).toEqual(held);
  });

  test('a second deletion may shorten the grace period, down to removal, but not extend it', () => {
    const first = planDeletion(pod(), pods, NONE, NOW).object;
    expect(planDeletion(first, pods, { ...NONE, gracePeriodSeconds: 60 }, NOW).kind).toBe('wait');
    const shorter = planDeletion(first, pods, { ...NONE, gracePeriodSeconds: 10 }, NOW);
    expect(shorter.kind).toBe('mark');
    expect(Date.parse(shorter.object.metadata.deletionTimestamp ?? '')).toBe(NOW + 10_000);
    const none = planDeletion(first, pods, { ...NONE, gracePeriodSeconds: 0 }, NOW);
    expect(none.kind).toBe('mark');
    expect(isFinished(none.object, pods)).toBe(true);
  });
});

describe('namespaces', () => {
  const active: ApiObject = {
    metadata: { name: 'x', uid: 'u' },
    spec: { finalizers: [FINALIZER.namespaceContent] },
    status: { phase: 'Active' },
  };

  test('a namespace with content becomes Terminating without a grace period', () => {
    const plan = planDeletion(active, namespaces, NONE, NOW);
    expect(plan.kind).toBe('mark');
    expect(plan.object['status']).toEqual({ phase: 'Terminating' });
    expect(plan.object.metadata).toEqual({
      name: 'x',
      uid: 'u',
      deletionTimestamp: '2030-01-01T00:00:00Z',
    });
  });

  test('it is finished only without finalizers in spec and in metadata', () => {
    const marked = planDeletion(active, namespaces, NONE, NOW).object;
    expect(isFinished(marked, namespaces)).toBe(false);
    const emptied = { ...marked, spec: { finalizers: [] } };
    expect(isFinished(emptied, namespaces)).toBe(true);
    const held = { ...emptied, metadata: { ...emptied.metadata, finalizers: ['x.example.com/y'] } };
    expect(isFinished(held, namespaces)).toBe(false);
  });
});

test('an object that is not terminating is never finished', () => {
  expect(isFinished(configMap(), {})).toBe(false);
});
