import type { ResourceName } from '../../cluster/cluster-reader';
import { ANNOTATION, GROUP } from '../../../../shared/names';
import { defaultIngressClass, defaultStorageClass } from './default-class';
import { INGRESS_CLASSES, STORAGE_CLASSES } from '../../cluster/resources';
import { attributesOf, clusterOf, outcomeOf } from '../testing/plugin-bench';

const classOf = (resource: ResourceName, name: string, annotations: Record<string, string> = {}) =>
  [resource, { metadata: { name, annotations } }] as const;

describe.each([
  {
    plugin: defaultStorageClass,
    path: 'v1/persistentvolumeclaims',
    resource: 'persistentvolumeclaims',
    field: 'storageClassName',
    annotation: ANNOTATION.betaStorageClass,
    classes: STORAGE_CLASSES,
    surplus: '2 default StorageClasses were found',
    marks: [ANNOTATION.isDefaultStorageClass, ANNOTATION.betaIsDefaultStorageClass],
  },
  {
    plugin: defaultIngressClass,
    path: 'networking.orch/v1/ingresses',
    resource: `ingresses.${GROUP.networking}`,
    field: 'ingressClassName',
    annotation: ANNOTATION.ingressClass,
    classes: INGRESS_CLASSES,
    surplus: '2 default IngressClasses were found, only 1 allowed',
    marks: [ANNOTATION.isDefaultIngressClass],
  },
])('$path', ({ plugin, path, field, annotation, classes, marks, resource, surplus }) => {
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

  test('an explicit class stays, also an empty one', async () => {
    for (const name of ['other', '']) {
      const object = { metadata: { name: 'x' }, spec: { [field]: name } };
      expect(await outcome(object)).toEqual(object);
    }
  });

  test('a class in the deprecated annotation stays', async () => {
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

  test('two default classes are an error', async () => {
    const two = clusterOf([
      classOf(classes, 'a', { [mark]: 'true' }),
      classOf(classes, 'b', { [mark]: 'true' }),
    ]);
    expect(await outcome({ metadata: { name: 'x' }, spec: {} }, two)).toBe(
      `403 ${resource} "x" is forbidden: Internal error occurred: ${surplus}`,
    );
    expect(await outcome({ metadata: { name: 'x' }, spec: { [field]: 'a' } }, two)).toMatchObject({
      spec: { [field]: 'a' },
    });
  });
});
