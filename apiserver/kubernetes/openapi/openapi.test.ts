import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { WireReader } from '../../../shared/protobuf/wire-reader';
import type { Registry } from '../../engine/registry/registry';
import { swaggerProtobuf } from './gnostic';
import { definitionName } from './names';

// eslint-disable-next-line typescript/no-explicit-any -- documents are walked freely
type AnyJson = Record<string, any>;

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

let api: InProcessApi;
let swagger: AnyJson;
let registry: Registry;

beforeAll(async () => {
  api = await startInProcessApi();
  registry = api.plane.registry();
  swagger = (await api.call('GET', '/openapi/v2')).json as AnyJson;
});
afterAll(async () => api.close());

function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && typeof each === 'string') yield each;
    else yield* references(each);
  }
}

function definition(message: string): AnyJson {
  return swagger['definitions'][definitionName(message)] as AnyJson;
}

function operations(document: AnyJson): AnyJson[] {
  return Object.values(document['paths'] as Record<string, AnyJson>).flatMap((item) =>
    ['get', 'put', 'post', 'delete', 'patch'].flatMap((method) =>
      item[method] === undefined ? [] : [item[method] as AnyJson],
    ),
  );
}

/** Returns the operations of discovery, as `METHOD path` without the deprecated watch paths. */
function servedOperations(): string[] {
  const methodOf: Record<string, string> = {
    create: 'post',
    delete: 'delete',
    deletecollection: 'delete',
    get: 'get',
    list: 'get',
    patch: 'patch',
    update: 'put',
  };
  const served: string[] = [];
  for (const { group, versions } of registry.groups) {
    for (const version of versions) {
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      for (const { row, subresources } of registry.endpointsOf(group, version)) {
        const collection = `${root}/${row.namespaced ? 'namespaces/{namespace}/' : ''}${row.resource}`;
        for (const verb of row.verbs.filter((each) => each in methodOf)) {
          const isOfCollection = ['create', 'list', 'deletecollection'].includes(verb);
          served.push(`${String(methodOf[verb])} ${collection}${isOfCollection ? '' : '/{name}'}`);
          if (verb === 'list' && row.namespaced) served.push(`get ${root}/${row.resource}`);
        }
        for (const each of subresources.values()) {
          served.push(
            ...each.verbs.map((verb) => `${String(methodOf[verb])} ${collection}/{name}/${each.name}`),
          );
        }
      }
    }
  }
  return served;
}

describe('the v2 document', () => {
  test('has only references that resolve', () => {
    const missing = [...references(swagger)].filter(
      (each) => swagger['definitions'][each.replace('#/definitions/', '')] === undefined,
    );
    expect(missing).toEqual([]);
    expect(Object.keys(swagger['definitions'] as AnyJson).length).toBeGreaterThan(500);
  });

  test('lists parameters common to all operations at the path, and others at the operation', () => {
    const paths = swagger['paths'] as Record<string, AnyJson>;
    const namesIn = (item: AnyJson | undefined): unknown[] =>
      ((item?.['parameters'] ?? []) as AnyJson[]).map((each) => each['name'] as string);
    const pod = paths['/api/v1/namespaces/{namespace}/pods/{name}'];
    expect(namesIn(pod)).toEqual(['name', 'namespace', 'pretty']);
    expect(namesIn(pod?.['get'] as AnyJson)).toEqual([]);
    expect(namesIn(pod?.['put'] as AnyJson)).toEqual(['body', 'dryRun', 'fieldManager', 'fieldValidation']);
    const alone = paths['/api/v1/namespaces/{namespace}/pods/{name}/binding'];
    expect(namesIn(alone)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'name',
      'namespace',
      'pretty',
    ]);
    expect(namesIn(alone?.['post'] as AnyJson)).toEqual(['body']);
    expect(namesIn(paths['/api/v1/namespaces/{namespace}/pods/{name}/exec'])).toContain('command');
    expect(paths['/version/']?.['parameters']).toBeUndefined();
  });

  test('has the paths below a proxy, for every method', () => {
    const paths = swagger['paths'] as Record<string, AnyJson>;
    const methods = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'];
    for (const path of ['/api/v1/nodes/{name}/proxy', '/api/v1/nodes/{name}/proxy/{path}']) {
      expect(Object.keys(paths[path] ?? {}).sort()).toEqual([...methods, 'parameters'].sort());
    }
  });

  test('names the discriminator of a union', () => {
    const definitions = swagger['definitions'] as Record<string, AnyJson>;
    const [name = ''] = Object.keys(definitions).filter((each) => each.endsWith('.SeccompProfile'));
    expect(definitions[name]?.['x-kubernetes-unions']).toEqual([
      { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
    ]);
  });

  test('has every operation of discovery, with unique ids', () => {
    const paths = swagger['paths'] as Record<string, AnyJson>;
    const served = servedOperations();
    expect(served.length).toBeGreaterThan(500);
    expect(
      served.filter((each) => {
        const [method = '', path = ''] = each.split(' ');
        return paths[path]?.[method] === undefined;
      }),
    ).toEqual([]);
    const ids = operations(swagger).map((each) => each['operationId'] as string);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('declares every parameter of a path', () => {
    for (const [path, item] of Object.entries(swagger['paths'] as Record<string, AnyJson>)) {
      const named = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name);
      const all = (item['parameters'] ?? []) as AnyJson[];
      const declared = all.filter((each) => each['in'] === 'path');
      expect(new Set(declared.map((each) => each['name'] as string))).toEqual(new Set(named));
      expect(declared).toHaveLength(named.length);
      expect(declared.every((each) => each['required'] === true)).toBe(true);
    }
  });

  test('has the action and kind of an operation', () => {
    const item = (swagger['paths'] as Record<string, AnyJson>)[
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'
    ];
    expect(item?.['patch']).toMatchObject({
      operationId: 'patchAppsV1NamespacedDeployment',
      tags: ['apps_v1'],
      consumes: [
        MEDIA_TYPE.jsonPatch,
        MEDIA_TYPE.mergePatch,
        MEDIA_TYPE.strategicMergePatch,
        MEDIA_TYPE.applyPatch,
      ],
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', kind: 'Deployment', version: 'v1' },
    });
    const query = ((item?.['patch']?.['parameters'] ?? []) as AnyJson[]).map(
      (each) => each['name'] as string,
    );
    expect(query).toEqual(['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force']);
    expect(item?.['delete']?.['responses']?.['200']?.['schema']).toEqual({
      $ref: `#/definitions/${definitionName('meta/v1.Status')}`,
    });
  });

  test('describes fields with their types, formats and markers', () => {
    const container = definition('core/v1.Container');
    expect(container['required']).toEqual(['name']);
    expect(container['properties']['ports']).toEqual({
      description: 'The ports on which the container listens.',
      type: 'array',
      items: { $ref: `#/definitions/${definitionName('core/v1.ContainerPort')}` },
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(definition('core/v1.ContainerPort')['properties']).toMatchObject({
      containerPort: { type: 'integer', format: 'int32' },
      protocol: { type: 'string' },
    });
    expect(definition('core/v1.ContainerPort')['properties']['protocol']).not.toHaveProperty('default');
    expect(definition('core/v1.Secret')['properties']['data']).toEqual({
      description: 'Values, in base64.',
      type: 'object',
      additionalProperties: { type: 'string', format: 'byte' },
    });
    expect(definition('meta/v1.LabelSelector')['x-kubernetes-map-type']).toBe('atomic');
    expect(definition('meta/v1.Time')).toMatchObject({ type: 'string', format: 'date-time' });
    expect(definition('intstr.IntOrString')).toMatchObject({ type: 'string', format: 'int-or-string' });
  });

  test('has the list and selector descriptions that clients search for', () => {
    expect(definition('core/v1.ServiceList')['properties'].items.description).toBe('List of services.');
    expect(definition('core/v1.Pod')['properties'].metadata.description).toMatch(
      /^Standard object's metadata\./,
    );
    const meta = definition('meta/v1.ObjectMeta');
    expect(meta['description']).toMatch(/^ObjectMeta is metadata that all persisted resources must have/);
    expect(meta['properties'].creationTimestamp.description).toMatch(/^CreationTimestamp is a timestamp/);
    const parameters = swagger['paths']['/api/v1/services'].parameters as AnyJson[];
    const said = new Map(parameters.map(({ name, description }) => [name, description]));
    expect(said.get('labelSelector')).toContain('list of returned');
    expect(said.get('fieldSelector')).toContain('list of returned');
    expect(said.get('watch')).toContain('Watch for changes to the described resources');
  });

  test('names the kind of a definition, and all group versions for the common kinds', () => {
    expect(definition('rbac/v1.Role')['x-kubernetes-group-version-kind']).toEqual([
      { group: GROUP.rbac, kind: 'Role', version: 'v1' },
    ]);
    expect(definition('rbac/v1.Role')['properties']).toHaveProperty('kind.type', 'string');
    expect(definition('core/v1.Container')['x-kubernetes-group-version-kind']).toBeUndefined();
    const all = definition('meta/v1.DeleteOptions')['x-kubernetes-group-version-kind'] as AnyJson[];
    expect(all).toHaveLength(registry.groups.flatMap(({ versions }) => versions).length);
  });

  test('is sent again only if it has changed', async () => {
    const first = await api.call('GET', '/openapi/v2');
    const etag = String(first.headers['ETag']);
    const again = await api.call('GET', '/openapi/v2', { headers: { 'if-none-match': `W/"x", ${etag}` } });
    expect([again.code, again.text, again.headers['ETag']]).toEqual([304, '', etag]);
    const other = await api.call('GET', '/openapi/v2', { headers: { 'if-none-match': '"x"' } });
    expect(other.code).toBe(200);
  });

  test('is rejected for unsupported media types and methods', async () => {
    expect((await api.call('GET', '/openapi/v2', { headers: { accept: 'text/html' } })).code).toBe(406);
    expect((await api.call('POST', '/openapi/v2')).code).toBe(405);
  });
});

describe('the v2 document in Protobuf', () => {
  /** Returns the fields of one message: number and value, in order. */
  function fields(bytes: Buffer): { readonly number: number; readonly value: Buffer | number }[] {
    const reader = new WireReader(bytes);
    const found: { number: number; value: Buffer | number }[] = [];
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag % 8 === 0) {
        found.push({ number: tag >>> 3, value: reader.uint32() });
        continue;
      }
      const length = reader.uint32();
      found.push({ number: tag >>> 3, value: bytes.subarray(reader.at, reader.at + length) });
      reader.at += length;
    }
    return found;
  }
  function at(bytes: Buffer, ...numbers: readonly number[]): Buffer {
    return numbers.reduce((inner, number) => {
      const found = fields(inner).find((each) => each.number === number)?.value;
      if (!Buffer.isBuffer(found)) throw new Error(`no field ${String(number)}`);
      return found;
    }, bytes);
  }
  function named(bytes: Buffer, number: number): Map<string, Buffer> {
    return new Map(
      fields(bytes)
        .filter((each) => each.number === number)
        .map(({ value }) => [at(value as Buffer, 1).toString(), at(value as Buffer, 2)]),
    );
  }

  test('has the same paths, definitions and kinds', async () => {
    const { bytes: document } = await swaggerProtobuf(registry, {
      version: '1',
      serverSideApply: true,
      enums: false,
    });
    const paths = named(at(document, 8), 2);
    const definitions = named(at(document, 9), 1);
    expect([...paths.keys()]).toEqual(Object.keys(swagger['paths'] as AnyJson));
    expect([...definitions.keys()]).toEqual(Object.keys(swagger['definitions'] as AnyJson));
    expect(at(document, 2, 2).toString()).toBe('1');

    for (const [name, bytes] of definitions) {
      const json = (swagger['definitions'] as Record<string, AnyJson>)[name] ?? {};
      const extensions = [...named(bytes, 31)].map(([key, value]) => [
        key,
        JSON.parse(at(value, 2).toString()) as unknown,
      ]);
      expect(Object.fromEntries(extensions)).toEqual(
        Object.fromEntries(Object.entries(json).filter(([key]) => key.startsWith('x-'))),
      );
      const properties = json['properties'] === undefined ? [] : [...named(at(bytes, 25), 1).keys()];
      expect(properties).toEqual(Object.keys((json['properties'] ?? {}) as AnyJson));
    }
  });

  test('encodes a property and a parameter in the fields that clients read', async () => {
    const { bytes: document } = await swaggerProtobuf(registry, {
      version: '1',
      serverSideApply: true,
      enums: false,
    });
    const container = named(at(document, 9), 1).get(definitionName('core/v1.Container')) ?? Buffer.alloc(0);
    const ports = named(at(container, 25), 1).get('ports') ?? Buffer.alloc(0);
    expect(at(ports, 22, 1).toString()).toBe('array');
    expect(at(ports, 23, 1, 1).toString()).toBe(`#/definitions/${definitionName('core/v1.ContainerPort')}`);
    const item =
      named(at(document, 8), 2).get('/api/v1/namespaces/{namespace}/pods/{name}') ?? Buffer.alloc(0);
    const patch = at(item, 8);
    const inQuery = fields(patch)
      .filter((each) => each.number === 8)
      .map(({ value }) => at(value as Buffer, 1))
      .filter((parameter) => fields(parameter)[0]?.number === 2)
      .map((parameter) => at(parameter, 2, 3, 4).toString());
    expect(inQuery).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  });

  test('has a valid media type in the response', async () => {
    const reply = await api.call('GET', '/openapi/v2', { headers: { accept: PROTOBUF } });
    expect(reply.headers['Content-Type']).toBe(PROTOBUF.replace('@', '.'));
    expect(reply.headers['Vary']).toBe('Accept, Accept-Encoding');
  });
});

describe('the v3 documents', () => {
  test('are listed in an index with their hashes, and are self-contained', async () => {
    const index = (await api.call('GET', '/openapi/v3')).json as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const names = registry.groups.flatMap(({ group, versions }) =>
      versions.map((version) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)),
    );
    expect(Object.keys(index.paths)).toEqual(
      expect.arrayContaining([...names, 'api', 'apis', 'apis/apps', 'version']),
    );
    let count = 0;
    for (const [name, { serverRelativeURL: url }] of Object.entries(index.paths)) {
      const reply = await api.call('GET', url);
      const document = reply.json as AnyJson;
      expect({ name, code: reply.code, url }).toEqual({
        name,
        code: 200,
        url: `/openapi/v3/${name}?hash=${String(reply.headers['ETag']).replaceAll('"', '')}`,
      });
      const schemas = document['components']['schemas'] as AnyJson;
      const missing = [...references(document)].filter(
        (each) => schemas[each.replace('#/components/schemas/', '')] === undefined,
      );
      expect({ name, missing }).toEqual({ name, missing: [] });
      const items = Object.entries(document['paths'] as Record<string, AnyJson>);
      expect(
        items.filter(([, { parameters }]) => (parameters as unknown[] | undefined)?.length === 0),
      ).toEqual([]);
      count += operations(document).length;
    }
    expect(count).toBe(operations(swagger).length);
  });

  test('wrap a reference with siblings, and list the alternatives of int-or-string', async () => {
    const document = (await api.call('GET', '/openapi/v3/apis/apps/v1')).json as AnyJson;
    const schemas = document['components']['schemas'] as Record<string, AnyJson>;
    const spec = schemas[definitionName('apps/v1.DeploymentSpec')];
    expect(spec?.['properties']?.['strategy']).toEqual({
      description: 'How pods are replaced.',
      allOf: [{ $ref: `#/components/schemas/${definitionName('apps/v1.DeploymentStrategy')}` }],
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
    expect(spec?.['properties']?.['template']).toEqual({
      description: 'What new pods look like.',
      allOf: [{ $ref: `#/components/schemas/${definitionName('core/v1.PodTemplateSpec')}` }],
    });
    const status = schemas[definitionName('apps/v1.DeploymentStatus')];
    expect(status?.['properties']?.['conditions']?.items).toEqual({
      $ref: `#/components/schemas/${definitionName('apps/v1.DeploymentCondition')}`,
    });
    expect(schemas[definitionName('intstr.IntOrString')]).toMatchObject({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    });
    const create = document['paths']['/apis/apps/v1/namespaces/{namespace}/deployments']['post'] as AnyJson;
    expect(create['requestBody']['content']['*/*']['schema']).toEqual({
      $ref: `#/components/schemas/${definitionName('apps/v1.Deployment')}`,
    });
  });

  test('redirect from an old hash to the current one', async () => {
    const today = await api.call('GET', '/openapi/v3/api/v1');
    const hash = String(today.headers['ETag']).replaceAll('"', '');
    const old = await api.call('GET', '/openapi/v3/api/v1?hash=0123');
    expect([old.code, old.headers['Location']]).toEqual([301, `/openapi/v3/api/v1?hash=${hash}`]);
  });

  test('exist only for served group versions', async () => {
    expect((await api.call('GET', '/openapi/v3/apis/apps/v9')).code).toBe(404);
  });
});

test('the response is compressed for a client that accepts gzip', async () => {
  const reply = await api.call('GET', '/openapi/v3/api/v1', { headers: { 'accept-encoding': 'gzip' } });
  expect(reply.headers['Content-Encoding']).toBe('gzip');
});

test('the list of paths includes those of the documents', async () => {
  const { paths } = (await api.call('GET', '/')).json as { paths: string[] };
  expect(paths).toEqual(expect.arrayContaining(['/openapi/v2', '/openapi/v3']));
});
