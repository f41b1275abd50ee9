/** The API of the sample server. */
export const SAMPLE = {
  group: 'wardle.example.com',
  version: 'v1alpha1',
  groupVersion: 'wardle.example.com/v1alpha1',
  kind: 'Flunder',
  resource: 'flunders',
} as const;

const { group, version, groupVersion, kind, resource } = SAMPLE;
const ROOT = `/apis/${groupVersion}`;
const FLUNDER = 'com.example.wardle.v1alpha1.Flunder';
const GROUP_VERSION = { groupVersion, version };
const API_GROUP = { name: group, versions: [GROUP_VERSION], preferredVersion: GROUP_VERSION };

/** Discovery, by path. */
export const DISCOVERY: ReadonlyMap<string, object> = new Map<string, object>([
  ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: [API_GROUP] }],
  [`/apis/${group}`, { kind: 'APIGroup', apiVersion: 'v1', ...API_GROUP }],
  [
    ROOT,
    {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion,
      resources: [
        {
          name: resource,
          singularName: 'flunder',
          namespaced: true,
          kind,
          shortNames: ['fl'],
          verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'watch'],
        },
        { name: `${resource}/echo`, singularName: '', namespaced: true, kind, verbs: ['get'] },
      ],
    },
  ],
]);

/** OpenAPI v2 with a text that changes between restarts. */
export function sampleSwagger(sizeSays: string): object {
  const kinds = [{ group, version, kind }];
  const schema = { $ref: `#/definitions/${FLUNDER}` };
  const operation = (id: string, action: string, more: object): object => ({
    operationId: id,
    consumes: ['*/*'],
    produces: ['application/json'],
    schemes: ['https'],
    responses: { 200: { description: 'OK', schema } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kinds[0],
    ...more,
  });
  const path = (name: string): object => ({
    name,
    in: 'path',
    required: true,
    type: 'string',
    uniqueItems: true,
  });
  const body = { name: 'body', in: 'body', required: true, schema };
  return {
    swagger: '2.0',
    info: { title: 'wardle', version },
    paths: {
      [`${ROOT}/namespaces/{namespace}/${resource}`]: {
        post: operation('createFlunder', 'post', { parameters: [body] }),
        parameters: [path('namespace')],
      },
      [`${ROOT}/namespaces/{namespace}/${resource}/{name}`]: {
        get: operation('readFlunder', 'get', {}),
        parameters: [path('namespace'), path('name')],
      },
    },
    definitions: {
      [FLUNDER]: {
        description: 'A flunder swims at the bottom.',
        type: 'object',
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { $ref: `#/definitions/${OBJECT_META}` },
          spec: { $ref: `#/definitions/${FLUNDER}Spec`, description: 'How it shall be.' },
        },
        'x-kubernetes-group-version-kind': kinds,
      },
      [`${FLUNDER}Spec`]: {
        type: 'object',
        properties: { size: { type: 'integer', format: 'int32', description: sizeSays } },
      },
      // Other servers have another definition of the same name.
      [OBJECT_META]: {
        description: 'What the sample server knows of an object.',
        type: 'object',
        properties: {
          name: { type: 'string' },
          namespace: { type: 'string' },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    },
  };
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
