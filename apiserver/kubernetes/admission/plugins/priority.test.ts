import type { ApiObject } from '../../../../shared/object/object';
import { priority } from './priority';
import { PRIORITY_CLASSES } from '../../cluster/resources';
import { attributesOf, clusterOf, outcomeOf } from '../testing/plugin-bench';

const classOf = (name: string, value: number, more: object = {}) =>
  [PRIORITY_CLASSES, { metadata: { name }, value, ...more } as ApiObject] as const;

const CLASSES = [classOf('high', 1000), classOf('polite', 500, { preemptionPolicy: 'Never' })];

async function podWith(spec: object, classes = CLASSES) {
  const attributes = attributesOf('v1/pods', { object: { metadata: { name: 'p' }, spec } });
  const outcome = await outcomeOf(priority(true), attributes, clusterOf(classes));
  return typeof outcome === 'string' ? outcome : outcome?.['spec'];
}

describe('a new pod', () => {
  test.each([
    ['nothing', {}, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
    ['a class', { priorityClassName: 'high' }, { priorityClassName: 'high', priority: 1000 }],
    [
      'a class with a policy',
      { priorityClassName: 'polite' },
      { priorityClassName: 'polite', priority: 500, preemptionPolicy: 'Never' },
    ],
    [
      'the right priority',
      { priorityClassName: 'high', priority: 1000 },
      { priorityClassName: 'high', priority: 1000 },
    ],
  ])('that requests %s', async (_what, spec, expected) => {
    expect(await podWith(spec)).toEqual(expected);
  });

  test.each([
    [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
    [{ priority: 5 }, 'the integer value of priority (5) must not be provided'],
    [
      { priorityClassName: 'polite', preemptionPolicy: 'PreemptLowerPriority' },
      'the string value of PreemptionPolicy',
    ],
  ])('with %j is refused', async (spec, problem) => {
    expect(await podWith(spec)).toMatch(/^403 pods "p" is forbidden: /);
    expect(await podWith(spec)).toContain(problem);
  });

  test('gets the default class, and the lower one of two', async () => {
    const classes = [
      ...CLASSES,
      classOf('usual', 7, { globalDefault: true, preemptionPolicy: 'Never' }),
      classOf('lower', 3, { globalDefault: true }),
    ];
    expect(await podWith({}, classes)).toEqual({ priorityClassName: 'lower', priority: 3 });
    expect(await podWith({}, classes.slice(0, 3))).toEqual({
      priorityClassName: 'usual',
      priority: 7,
      preemptionPolicy: 'Never',
    });
  });
});

test('an update without the priority keeps it', async () => {
  const attributes = attributesOf('v1/pods', {
    operation: 'UPDATE',
    object: { metadata: { name: 'p' }, spec: { priorityClassName: 'high' } },
    oldObject: {
      metadata: { name: 'p' },
      spec: { priorityClassName: 'high', priority: 9, preemptionPolicy: 'Never' },
    },
  });
  expect(await outcomeOf(priority(true), attributes)).toMatchObject({
    spec: { priorityClassName: 'high', priority: 9, preemptionPolicy: 'Never' },
  });
});

describe('a second default class', () => {
  const usual = classOf('usual', 7, { globalDefault: true });
  const write = (operation: 'CREATE' | 'UPDATE', name: string) =>
    attributesOf('scheduling.orch/v1/priorityclasses', {
      operation,
      name,
      object: { metadata: { name }, value: 1, globalDefault: true },
    });

  test.each(['CREATE', 'UPDATE'] as const)(
    'is refused on %s, also when the cache does not know the first one yet',
    async (operation) => {
      const cluster = clusterOf([], [usual]);
      expect(await outcomeOf(priority(true), write(operation, 'second'), cluster)).toContain(
        'PriorityClass usual is already marked as default. Only one default can exist',
      );
    },
  );

  test('may be the changed first one', async () => {
    const outcome = await outcomeOf(priority(true), write('UPDATE', 'usual'), clusterOf([usual]));
    expect(outcome).toMatchObject({ metadata: { name: 'usual' } });
  });
});

test('without the gate pods get no preemption policy', async () => {
  const object = {
    metadata: { name: 'p' },
    spec: { priorityClassName: 'polite', preemptionPolicy: 'Other' },
  };
  const attributes = attributesOf('v1/pods', { object });
  const outcome = await outcomeOf(priority(false), attributes, clusterOf(CLASSES));
  expect(outcome).toMatchObject({ spec: { priority: 500, preemptionPolicy: 'Other' } });
});
