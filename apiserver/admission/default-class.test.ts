import { ANNOTATION } from '../../shared/names';
import { defaultIngressClass, defaultStorageClass } from './default-class';
import type { ResourceName } from './plugin';
import { INGRESS_CLASSES, STORAGE_CLASSES } from './resources';
import { attributesOf, clusterOf, outcomeOf } from './testing/plugin-bench';

const classOf = (resource: ResourceName, name: string, annotations: Record<string, string> = {}) =>
  [resource, { metadata: { name, annotations } }] as const;

describe.each([
  {
    plugin: defaultStorageClass,
    path: 'v1/persistentvolumeclaims',
    field: 'storageClassName',
    annotation: ANNOTATION.betaStorageClass,
    classes: STORAGE_CLASSES,
    marks: [ANNOTATION.isDefaultStorageClass, ANNOTATION.betaIsDefaultStorageClass],
  },
  {
    plugin: defaultIngressClass,
    path: 'networking.orch/v1/ingresses',
    field: 'ingressClassName',
    annotation: ANNOTATION.ingressClass,
    classes: INGRESS_CLASSES,
    marks: [ANNOTATION.isDefaultIngressClass],
  },
])('$path', ({ plugin, path, field, annotation, classes, marks }) => {
  const [mark = ''] = marks;
  const outcome = async (
    object: { metadata: object; spec: object },
    cluster = clusterOf([classOf(classes, 'a'), classOf(classes, 'b', { [mark]: 'true' })]),
  ) => outcomeOf(plugin, attributesOf(path, { object }), cluster);

  test.each(marks)('without a class, an object gets the one marked by %s', async (each) => {
    const cluster = clusterOf([classOf(classes, 'a'), classOf(classes, 'b', { [each]: 'true' })]);
    expect(await outcome({ metadata: { name: 'x' }, spec: {} }, cluster)).toMatchObject({
      spec: { [field]: 'b' },
    });
  });

  test('a class that is named stays, also an empty one', async () => {
    for (const name of ['other', '']) {
      const object = { metadata: { name: 'x' }, spec: { [field]: name } };
      expect(await outcome(object)).toEqual(object);
    }
  });

  test('a class that is named in the old way stays', async () => {
    const object = { metadata: { name: 'x', annotations: { [annotation]: 'old' } }, spec: {} };
    expect(await outcome(object)).toEqual(object);
  });

  test('without a default class nothing is set', async () => {
    const cluster = clusterOf([classOf(classes, 'a', { [mark]: 'false' })]);
    expect(await outcome({ metadata: { name: 'x' }, spec: {} }, cluster)).toEqual({
      metadata: { name: 'x' },
      spec: {},
    });
  });

  test('with two default classes nothing is guessed', async () => {
    const two = clusterOf([
      classOf(classes, 'a', { [mark]: 'true' }),
      classOf(classes, 'b', { [mark]: 'true' }),
    ]);
    expect(await outcome({ metadata: { name: 'x' }, spec: {} }, two)).toMatch(
      /^403 .*: Internal error occurred: 2 default /,
    );
    expect(await outcome({ metadata: { name: 'x' }, spec: { [field]: 'a' } }, two)).toMatchObject({
      spec: { [field]: 'a' },
    });
  });
});
