import { decodeObject } from '../schema/decode';
import { filledObject } from '../schema/testing/samples';
import type { MessageType } from '../schema/types';
import { kindType, messageType } from '../schema/types';
import type { ApiObject } from '../object/object';
import { apiVersionOf } from '../object/object';
import { ANNOTATION, GROUP, LABEL } from '../names';
import type { ResourceRow } from '../api/resources';
import { resourceOf, RESOURCES } from '../api/resources';
import { getConversion } from './conversions';
import { randomObject, seededRandom } from './testing/random-object';

function inVersion(row: ResourceRow, object: object): ApiObject {
  return decodeObject(kindType(row.schema), { ...object, kind: row.kind, apiVersion: apiVersionOf(row) })
    .object;
}

function hubOf(row: ResourceRow): ResourceRow {
  const hub = resourceOf(row.hub, row.resource);
  if (hub === undefined) throw new Error(`${row.schema} has no hub`);
  return hub;
}

function toHub(row: ResourceRow, object: ApiObject): ApiObject {
  return inVersion(hubOf(row), getConversion(row)?.toHub(object) ?? object);
}

function fromHub(row: ResourceRow, object: ApiObject): ApiObject {
  return inVersion(row, getConversion(row)?.fromHub(object) ?? object);
}

/** All rows that are not hubs, with the other versions of their kinds. */
const VERSIONS = RESOURCES.filter((row) => row.schema !== hubOf(row).schema);

function rowOf(group: string, version: string, resource: string): ResourceRow {
  const row = resourceOf({ group, version }, resource);
  if (row === undefined) throw new Error(`${group}/${version} has no ${resource}`);
  return row;
}

const RANDOM_OBJECTS = 40;

describe('every version that is not stored', () => {
  test.each(VERSIONS.map((row) => [row.schema, row] as const))(
    '%s survives a round-trip through the hub',
    (_name, row) => {
      const random = seededRandom(row.schema);
      const filled = inVersion(row, filledObject(messageType(row.schema)));
      const objects = [
        filled,
        ...Array.from({ length: RANDOM_OBJECTS }, () => inVersion(row, randomObject(row, random))),
      ];
      for (const object of objects.map((each) => settled(row, each, (it) => fromHub(row, toHub(row, it))))) {
        expect(fromHub(row, toHub(row, object))).toEqual(object);
      }
    },
  );

  test.each(VERSIONS.map((row) => [row.schema, row] as const))(
    'the hub survives a round-trip through %s',
    (_name, row) => {
      const random = seededRandom(`hub of ${row.schema}`);
      const hub = hubOf(row);
      for (let count = 0; count < RANDOM_OBJECTS; count += 1) {
        const object = settled(row, inVersion(hub, randomObject(hub, random)), (it) =>
          toHub(row, fromHub(row, it)),
        );
        expect(toHub(row, fromHub(row, object))).toEqual(object);
      }
    },
  );

  test.each(VERSIONS.map((row) => [row.schema, row] as const))(
    'converting %s changes no argument',
    (_name, row) => {
      const object = freeze(inVersion(row, filledObject(messageType(row.schema))));
      const hub = freeze(inVersion(hubOf(row), filledObject(messageType(hubOf(row).schema))));
      expect(() => [toHub(row, object), fromHub(row, hub)]).not.toThrow();
    },
  );

  test.each(VERSIONS.map((row) => [row.schema, row] as const))(
    '%s is converted with null in any field',
    (_name, row) => {
      const conversion = getConversion(row);
      for (const from of [row, hubOf(row)]) {
        const object = inVersion(from, filledObject(messageType(from.schema)));
        const carrying = { ...object, metadata: { ...object.metadata, annotations: CARRIED } };
        for (const emptied of withNulls(carrying) as readonly ApiObject[]) {
          expect(() =>
            from === row ? conversion?.toHub(emptied) : conversion?.fromHub(emptied),
          ).not.toThrow();
        }
      }
    },
  );

  test('a version without a conversion has the fields of its hub', () => {
    const plain = VERSIONS.filter((row) => getConversion(row) === undefined);
    expect(plain.length).toBeGreaterThan(20);
    for (const row of plain) {
      expect({ row: row.schema, fields: shapeOf(messageType(row.schema)) }).toEqual({
        row: row.schema,
        fields: shapeOf(messageType(hubOf(row).schema)),
      });
    }
  });
});

/** Annotations that carry metrics of autoscalers. */
const CARRIED = {
  [ANNOTATION.autoscalerMetrics]: '[null]',
  [ANNOTATION.autoscalerBehavior]: '{"scaleUp":null}',
};

/** Returns variants of the value with null in place of each part, except metadata, which is always present. */
function withNulls(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    [...(name === 'metadata' ? [] : [null]), ...withNulls(each)].map((changed) =>
      Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
    ),
  );
}

const METRIC_TARGET =
  /^\.(?:spec\.metrics|status\.currentMetrics)\[\]\.\w+\.(?:target|current)\.(?:type|value|averageUtilization|averageValue)=/;

/**
 * Kinds with two forms of one meaning in some version. One round-trip normalizes them. The patterns are the
 * paths that it may change.
 */
const AMBIGUOUS: Readonly<Record<string, RegExp>> = {
  // Common fields in the spec or in each version.
  'apiextensions/v1beta1.CustomResourceDefinition':
    /^\.spec\.(?:version=|(?:versions\[\]\.)?(?:schema|validation|subresources|additionalPrinterColumns)\b)/,
  // Targets whose type and values differ, and second CPU metrics; validation refuses them.
  'autoscaling/v1.HorizontalPodAutoscaler': METRIC_TARGET,
  'autoscaling/v2beta1.HorizontalPodAutoscaler': METRIC_TARGET,
  // An absent or an empty signer.
  'certificates/v1beta1.CertificateSigningRequest': /^$/,
  // Zone and host name in the topology.
  'discovery/v1beta1.EndpointSlice': /^$/,
  // A port without a service.
  'extensions/v1beta1.Ingress': /^$/,
  'networking/v1beta1.Ingress': /^$/,
  // The apiVersion follows from the kind.
  'rbac/v1alpha1.ClusterRoleBinding': /^\.subjects\[\]\.(?:apiVersion|apiGroup|kind|name)=/,
  'rbac/v1alpha1.RoleBinding': /^\.subjects\[\]\.(?:apiVersion|apiGroup|kind|name)=/,
};

/** Returns the object, normalized by one round-trip where it is ambiguous. All changes must be in the table. */
function settled(row: ResourceRow, object: ApiObject, turn: (object: ApiObject) => ApiObject): ApiObject {
  const allowed = AMBIGUOUS[row.schema];
  if (allowed === undefined) return object;
  const after = turn(object);
  const changed = leaves(object).filter((leaf) => !leaves(after).includes(leaf));
  expect(changed.filter((leaf) => !allowed.test(leaf))).toEqual([]);
  return after;
}

/** Lists `path=value` of every non-empty value. */
function leaves(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => leaves(each, `${path}[]`));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, each]) => leaves(each, `${path}.${name}`));
  }
  return value === null || value === '' || value === 0 || value === '0'
    ? []
    : [`${path}=${JSON.stringify(value)}`];
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}

/** Returns names and kinds of all fields, including nested messages. */
function shapeOf(type: MessageType, above: readonly string[] = []): unknown {
  const name = type.name.slice(type.name.indexOf('.') + 1);
  if (above.includes(name)) return name;
  return type.fields.map(({ name: field, kind, list, map, message }) => [
    field,
    kind,
    list,
    map,
    message === undefined ? undefined : shapeOf(message, [...above, name]),
  ]);
}

describe('endpoint slices', () => {
  const row = rowOf(GROUP.discovery, 'v1beta1', 'endpointslices');
  const slice = (endpoint: object): ApiObject =>
    inVersion(row, {
      metadata: { name: 'a' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
    });

  test('zone and node move out of the topology; a host name that is not the node stays', () => {
    const object = slice({
      nodeName: 'n1',
      topology: { [LABEL.hostname]: 'n1', [LABEL.topologyZone]: 'z', other: 'o' },
    });
    expect(toHub(row, object)).toMatchObject({
      endpoints: [{ nodeName: 'n1', zone: 'z', deprecatedTopology: { other: 'o' } }],
    });
    expect(fromHub(row, toHub(row, object))).toEqual(object);
    const elsewhere = slice({ nodeName: 'n1', topology: { [LABEL.hostname]: 'n2' } });
    expect(toHub(row, elsewhere)).toMatchObject({
      endpoints: [{ deprecatedTopology: { [LABEL.hostname]: 'n2' } }],
    });
    expect(fromHub(row, toHub(row, elsewhere))).toEqual(elsewhere);
  });
});

describe('ingresses', () => {
  const row = rowOf(GROUP.extensions, 'v1beta1', 'ingresses');

  test('a port by number, one by name, and a backend that is a resource', () => {
    const path = (backend: object): object => ({ path: '/', pathType: 'Prefix', backend });
    const object = inVersion(row, {
      metadata: { name: 'a' },
      spec: {
        backend: { serviceName: 's', servicePort: 80 },
        rules: [
          {
            host: 'h',
            http: {
              paths: [
                path({ serviceName: 's', servicePort: 'web' }),
                path({ resource: { kind: 'Bucket', name: 'b' } }),
              ],
            },
          },
        ],
      },
    });
    const hub = toHub(row, object);
    expect(hub).toMatchObject({
      apiVersion: apiVersionOf({ group: GROUP.networking, version: 'v1' }),
      spec: {
        defaultBackend: { service: { name: 's', port: { number: 80 } } },
        rules: [
          {
            http: {
              paths: [
                { backend: { service: { name: 's', port: { name: 'web' } } } },
                { backend: { resource: { kind: 'Bucket', name: 'b' } } },
              ],
            },
          },
        ],
      },
    });
    expect(JSON.stringify(hub)).not.toContain('servicePort');
    expect(fromHub(row, hub)).toEqual(object);
  });
});

describe('disruption budgets', () => {
  const row = rowOf(GROUP.policy, 'v1beta1', 'poddisruptionbudgets');
  const budget = (selector: object | undefined): ApiObject =>
    inVersion(row, {
      metadata: { name: 'a' },
      spec: { minAvailable: 1, ...(selector === undefined ? {} : { selector }) },
    });
  const selectorOf = (object: ApiObject): unknown => (object['spec'] as { selector?: unknown }).selector;

  test('an empty selector of v1beta1 selects nothing in v1 and round-trips', () => {
    const hub = toHub(row, budget({}));
    expect(selectorOf(hub)).toEqual({
      matchExpressions: [{ key: LABEL.budgetOfEmptySelector, operator: 'Exists' }],
    });
    expect(selectorOf(fromHub(row, hub))).toEqual({});
  });

  test('an empty selector of v1 selects everything in v1beta1 too', () => {
    const hub = inVersion(hubOf(row), { metadata: { name: 'a' }, spec: { selector: {} } });
    const shown = fromHub(row, hub);
    expect(selectorOf(shown)).toEqual({
      matchExpressions: [{ key: LABEL.budgetOfEmptySelector, operator: 'DoesNotExist' }],
    });
    expect(selectorOf(toHub(row, shown))).toEqual({});
  });

  test('an absent selector stays absent, and the marker label never appears beside other terms', () => {
    expect(selectorOf(toHub(row, budget(undefined)))).toBeUndefined();
    const mixed = {
      matchLabels: { a: 'b' },
      matchExpressions: [{ key: LABEL.budgetOfEmptySelector, operator: 'Exists' }],
    };
    expect(selectorOf(toHub(row, budget(mixed)))).toEqual({ matchLabels: { a: 'b' } });
  });
});

describe('autoscalers', () => {
  const v1 = rowOf(GROUP.autoscaling, 'v1', 'horizontalpodautoscalers');
  const v2beta1 = rowOf(GROUP.autoscaling, 'v2beta1', 'horizontalpodautoscalers');
  const hub = inVersion(hubOf(v1), {
    metadata: { name: 'a', annotations: { own: 'kept' } },
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      metrics: [
        {
          type: 'Pods',
          pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5' } },
        },
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
        },
      ],
      behavior: { scaleDown: { selectPolicy: 'Disabled', stabilizationWindowSeconds: 3 } },
    },
    status: {
      currentReplicas: 1,
      desiredReplicas: 1,
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '100m' } },
        },
      ],
      conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2021-04-08T16:31:21Z' }],
    },
  });

  test('v1 has a field for CPU and annotations for the rest', () => {
    const shown = fromHub(v1, hub);
    expect(shown['spec']).toMatchObject({ targetCPUUtilizationPercentage: 60 });
    expect(shown['status']).toMatchObject({ currentCPUUtilizationPercentage: 40 });
    expect(Object.keys(shown.metadata.annotations ?? {}).toSorted()).toEqual(
      [
        'own',
        ANNOTATION.autoscalerBehavior,
        ANNOTATION.autoscalerConditions,
        ANNOTATION.autoscalerCurrentMetrics,
        ANNOTATION.autoscalerMetrics,
      ].toSorted(),
    );
    expect(shown.metadata.annotations?.[ANNOTATION.autoscalerMetrics]).toBe(
      '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5"}}]',
    );
    expect(shown.metadata.annotations?.[ANNOTATION.autoscalerBehavior]).toBe(
      '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":3,"SelectPolicy":"Disabled","Policies":null}}',
    );
    expect(toHub(v1, shown)).toEqual(hub);
  });

  test('annotations have the field order of upstream', () => {
    const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } };
    const spec = {
      metrics: [
        {
          type: 'Object',
          object: {
            describedObject: { kind: 'K', name: 'n' },
            metric,
            target: { type: 'Value', value: '3' },
          },
        },
        { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '5' } } },
        {
          type: 'ContainerResource',
          containerResource: {
            name: 'cpu',
            container: 'c',
            target: { type: 'Utilization', averageUtilization: 6 },
          },
        },
      ],
    };
    const shown = fromHub(v1, inVersion(hubOf(v1), { metadata: { name: 'a' }, spec }));
    const selector = '"selector":{"matchLabels":{"a":"b"}}';
    expect(shown.metadata.annotations?.[ANNOTATION.autoscalerMetrics]).toBe(
      `[{"type":"Object","object":{"target":{"kind":"K","name":"n"},"metricName":"m","targetValue":"3",${selector}}},` +
        `{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5",${selector}}},` +
        '{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":6,"container":"c"}}]',
    );
  });

  test('v2beta1 has flat metrics and an annotation for the behavior', () => {
    const shown = fromHub(v2beta1, hub);
    expect(shown['spec']).toMatchObject({
      metrics: [
        { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '5' } },
        { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } },
      ],
    });
    expect(toHub(v2beta1, shown)).toEqual(hub);
  });

  test.each([
    ['no JSON', ANNOTATION.autoscalerMetrics, '{'],
    ['no list', ANNOTATION.autoscalerMetrics, '{}'],
    ['a list with something else in it', ANNOTATION.autoscalerMetrics, '[{"type":"Pods"},"x"]'],
    ['a list of other types', ANNOTATION.autoscalerConditions, '[{"type":1}]'],
    ['no metrics that there are', ANNOTATION.autoscalerCurrentMetrics, '[{"resource":[]}]'],
    ['no behavior', ANNOTATION.autoscalerBehavior, '[]'],
    ['a behavior of other types', ANNOTATION.autoscalerBehavior, '{"ScaleUp":{"Policies":"x"}}'],
    ['a behavior that says nothing', ANNOTATION.autoscalerBehavior, '{"ScaleUp":null}'],
  ])('an annotation with %s is lost in every version', (_case, annotation, text) => {
    const metadata = { name: 'a', annotations: { [annotation]: text, own: 'kept' } };
    const spec = { maxReplicas: 1, scaleTargetRef: { kind: 'k', name: 'n' } };
    for (const row of [v1, v2beta1]) {
      const read = toHub(row, inVersion(row, { metadata, spec }));
      expect(read.metadata.annotations).toEqual({ own: 'kept' });
      expect(read['spec']).not.toHaveProperty('behavior');
      expect(read['status'] ?? {}).toMatchObject({ conditions: null, currentMetrics: null });
    }
  });

  test.each([
    ['nothing', undefined, [80]],
    ['no metric that can be read', 'x', [80]],
    ['no metric', '[]', [80]],
    ['a metric', '[{"type":"Pods"}]', [undefined]],
  ])(
    'an autoscaler of v1 with %s in its annotation has the default metric unless there is one',
    (_case, text, uses) => {
      const annotations = text === undefined ? {} : { [ANNOTATION.autoscalerMetrics]: text };
      const spec = { maxReplicas: 1, scaleTargetRef: { kind: 'k', name: 'n' } };
      const read = toHub(v1, inVersion(v1, { metadata: { name: 'a', annotations }, spec }));
      const { metrics } = read['spec'] as {
        metrics: { resource?: { target: { averageUtilization: number } } }[];
      };
      expect(metrics.map(({ resource }) => resource?.target.averageUtilization)).toEqual(uses);
    },
  );

  test('v1 shows the last of several CPU metrics', () => {
    const state = (averageUtilization: number): object => ({
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization, averageValue: '1' } },
    });
    const shown = fromHub(
      v1,
      inVersion(hubOf(v1), { ...hub, status: { currentMetrics: [state(1), state(2)] } }),
    );
    expect(shown['status']).toMatchObject({ currentCPUUtilizationPercentage: 2 });
  });
});

describe('custom resource definitions', () => {
  const row = rowOf(GROUP.apiextensions, 'v1beta1', 'customresourcedefinitions');

  test('common fields of the v1beta1 spec are in each version of v1', () => {
    const object = inVersion(row, {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'things', kind: 'Thing' },
        scope: 'Namespaced',
        version: 'v1',
        versions: [
          { name: 'v1', served: true, storage: true },
          { name: 'v2', served: true, storage: false },
        ],
        subresources: { status: {} },
        validation: { openAPIV3Schema: { type: 'object' } },
        additionalPrinterColumns: [{ name: 'Age', type: 'date', JSONPath: '.metadata.creationTimestamp' }],
        conversion: {
          strategy: 'Webhook',
          webhookClientConfig: { url: 'https://example.com' },
          conversionReviewVersions: ['v1'],
        },
        preserveUnknownFields: false,
      },
    });
    const version = {
      subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object' } },
      additionalPrinterColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
    };
    const hub = toHub(row, object);
    expect(hub).toMatchObject({
      spec: {
        versions: [
          { name: 'v1', ...version },
          { name: 'v2', ...version },
        ],
        conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } },
      },
    });
    expect(fromHub(row, hub)).toEqual(object);
  });
});

test('the user * of rbac/v1alpha1 is the group system:authenticated', () => {
  const row = rowOf(GROUP.rbac, 'v1alpha1', 'clusterrolebindings');
  const object = inVersion(row, {
    metadata: { name: 'a' },
    subjects: [
      { kind: 'User', name: '*' },
      { kind: 'ServiceAccount', name: 'sa', namespace: 'ns', apiVersion: 'v1' },
    ],
    roleRef: { kind: 'ClusterRole', name: 'r', apiGroup: GROUP.rbac },
  });
  expect(toHub(row, object)).toMatchObject({
    subjects: [
      { kind: 'Group', name: 'system:authenticated', apiGroup: GROUP.rbac },
      { kind: 'ServiceAccount', name: 'sa', namespace: 'ns' },
    ],
  });
});

test.each([
  ['User', GROUP.rbac, `${GROUP.rbac}/v1alpha1`],
  ['Group', GROUP.rbac, `${GROUP.rbac}/v1alpha1`],
  ['ServiceAccount', undefined, 'v1'],
  ['User', undefined, undefined],
  ['Group', 'example.com', 'example.com/'],
  ['ServiceAccount', GROUP.rbac, `${GROUP.rbac}/`],
  ['Other', 'example.com', 'example.com/'],
])(
  'in rbac/v1alpha1 a subject of kind %s in the group %s has the version %s',
  (kind, apiGroup, apiVersion) => {
    const row = rowOf(GROUP.rbac, 'v1alpha1', 'clusterrolebindings');
    const group = apiGroup === undefined ? {} : { apiGroup };
    const object = { metadata: { name: 'a' }, subjects: [{ kind, name: 'n', ...group }] };
    const version = apiVersion === undefined ? {} : { apiVersion };
    expect(fromHub(row, object)['subjects']).toEqual([{ kind, name: 'n', ...version }]);
  },
);
