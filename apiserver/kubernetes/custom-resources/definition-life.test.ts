import { ANNOTATION, FINALIZER, GROUP } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import {
  DEFINITIONS_PATH,
  conditionOf,
  define,
  definitionBody,
  GIZMOS_PATH as PATH,
  gizmo,
  untilGone,
  untilStatus,
} from '../../testing/custom-resources/definitions';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

const remove = async (name: string): ReturnType<InProcessApi['call']> =>
  api.call('DELETE', `${DEFINITIONS_PATH}/${name}`);

describe('a new definition', () => {
  test('gets its names first, and is established in a separate step', async () => {
    const body = definitionBody({ names: { shortNames: ['gz'], categories: ['all'] } });
    const stop = new AbortController();
    const seen: string[][] = [];
    await api.call('POST', DEFINITIONS_PATH, { body });
    for await (const { object } of api.watch(`${DEFINITIONS_PATH}?watch=1&resourceVersion=1`, stop.signal)) {
      const status = object['status'] as {
        readonly conditions: { type: string; status: string; reason: string }[] | null;
      };
      seen.push((status.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason}`));
      if (seen.at(-1)?.includes('Established True InitialNamesAccepted') === true) break;
    }
    stop.abort();
    expect(seen).toEqual([
      [],
      ['NamesAccepted True NoConflicts', 'Established False Installing'],
      ['NamesAccepted True NoConflicts', 'Established True InitialNamesAccepted'],
    ]);
    const { json } = await api.call('GET', `${DEFINITIONS_PATH}/gizmos.example.com`);
    expect(json.status.acceptedNames).toEqual({
      plural: 'gizmos',
      singular: 'gizmo',
      shortNames: ['gz'],
      kind: 'Gizmo',
      listKind: 'GizmoList',
      categories: ['all'],
    });
    expect(json.status.storedVersions).toEqual(['v1']);
    expect(json.metadata.generation).toBe(1);
  });

  test('has the condition NonStructuralSchema until its schema is structural', async () => {
    const body = {
      ...definitionBody(),
      spec: {
        group: 'example.com',
        version: 'v1',
        scope: 'Namespaced',
        names: { plural: 'gizmos', kind: 'Gizmo' },
      },
    };
    expect((await api.call('POST', DEFINITIONS_PATH.replace('v1', 'v1beta1'), { body })).code).toBe(201);
    const status = await untilStatus(
      api,
      'gizmos.example.com',
      (each) => conditionOf(each, 'Established')?.['status'] === 'True',
    );
    expect(conditionOf(status, 'NonStructuralSchema')).toMatchObject({
      status: 'True',
      reason: 'Violations',
      message: 'spec.preserveUnknownFields: Invalid value: true: must be false',
    });
    const made = await api.call('POST', PATH, { body: { ...gizmo('a'), anything: { goes: 1 } } });
    expect(made.json.anything).toEqual({ goes: 1 });
    const versions = [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ];
    const better = { spec: { preserveUnknownFields: false, versions } };
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body: better })).code).toBe(
      200,
    );
    await untilStatus(
      api,
      'gizmos.example.com',
      (each) => conditionOf(each, 'NonStructuralSchema') === undefined,
    );
    expect((await api.call('GET', `${PATH}/a`)).json.anything).toBeUndefined();
  });

  test.each([
    ['https://example.com/approved', 'True', 'ApprovedAnnotation'],
    ['unapproved, an experiment', 'False', 'UnapprovedAnnotation'],
  ])(
    'of a protected group with the approval annotation "%s" has the approval condition',
    async (approval, status, reason) => {
      const group = `x.${GROUP.apiextensions.slice(GROUP.apiextensions.indexOf('.') + 1)}`;
      const body = definitionBody({ group });
      const metadata = { ...body.metadata, annotations: { [ANNOTATION.apiApproved]: approval } };
      expect((await api.call('POST', DEFINITIONS_PATH, { body: { ...body, metadata } })).code).toBe(201);
      const found = await untilStatus(
        api,
        metadata.name,
        (each) => conditionOf(each, 'Established')?.['status'] === 'True',
      );
      expect(conditionOf(found, 'KubernetesAPIApprovalPolicyConformant')).toMatchObject({ status, reason });
    },
  );
});

describe('a definition whose names conflict', () => {
  test('waits for the names, and gets them when their owner is deleted or renamed', async () => {
    await define(api, definitionBody({ names: { shortNames: ['g'] } }));
    const other = definitionBody({ plural: 'others', kind: 'Gizmo' });
    await api.call('POST', DEFINITIONS_PATH, { body: other });
    const status = await untilStatus(
      api,
      'others.example.com',
      (each) => conditionOf(each, 'NamesAccepted') !== undefined,
    );
    expect(conditionOf(status, 'NamesAccepted')).toMatchObject({
      status: 'False',
      reason: 'ListKindConflict',
      message: '"GizmoList" is already in use',
    });
    expect(conditionOf(status, 'Established')).toMatchObject({ status: 'False', reason: 'NotAccepted' });
    expect(status['acceptedNames']).toEqual({ plural: 'others', kind: '' });
    expect((await api.call('GET', '/apis/example.com/v1/others')).code).toBe(404);
    await remove('gizmos.example.com');
    await untilStatus(
      api,
      'others.example.com',
      (each) => conditionOf(each, 'Established')?.['status'] === 'True',
    );
    expect((await api.call('GET', '/apis/example.com/v1/others')).json.kind).toBe('GizmoList');
  });

  test('of another group has no conflict', async () => {
    await define(api, definitionBody());
    await define(api, definitionBody({ group: 'example.org' }));
    expect((await api.call('GET', '/apis/example.org/v1/gizmos')).code).toBe(200);
  });
});

describe('a definition that is deleted', () => {
  test('is removed with its objects, and is unknown afterwards', async () => {
    await define(api, definitionBody());
    for (const name of ['a', 'b']) await api.call('POST', PATH, { body: gizmo(name) });
    const { code, json } = await remove('gizmos.example.com');
    expect([code, json.metadata.finalizers, json.metadata.deletionGracePeriodSeconds]).toEqual([
      200,
      [FINALIZER.customResourceCleanup],
      undefined,
    ]);
    expect(conditionOf(json.status, 'Terminating')).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionPending',
    });
    await untilGone(api, 'gizmos.example.com');
    expect((await api.call('GET', PATH)).text).toBe('404 page not found\n');
    expect((await api.call('GET', '/apis/example.com')).code).toBe(404);
    await define(api, definitionBody());
    expect((await api.call('GET', PATH)).json.items).toEqual([]);
  });

  test('waits for objects with finalizers, which can be updated, while creations are rejected', async () => {
    await define(api, definitionBody());
    const held = gizmo('held', { metadata: { name: 'held', finalizers: ['example.com/f'] } });
    await api.call('POST', PATH, { body: held });
    await api.call('POST', PATH, { body: gizmo('free') });
    await remove('gizmos.example.com');
    await untilStatus(
      api,
      'gizmos.example.com',
      (each) => conditionOf(each, 'Terminating')?.['reason'] === 'InstanceDeletionInProgress',
    );
    const late = await api.call('POST', PATH, { body: gizmo('late') });
    expect([late.code, late.json.message, late.json.details]).toEqual([
      405,
      'create not allowed while custom resource definition is terminating',
      { group: 'example.com', kind: 'gizmos' },
    ]);
    const apply = {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      text: JSON.stringify(gizmo('late')),
    };
    expect((await api.call('PATCH', `${PATH}/late?fieldManager=m`, apply)).code).toBe(405);
    const { json } = await api.call('GET', '/apis/example.com/v1');
    expect(json.resources[0].verbs).not.toContain('create');
    const patched = await api.call('PATCH', `${PATH}/held`, { body: { metadata: { labels: { l: '1' } } } });
    expect([patched.code, patched.json.metadata.deletionTimestamp]).toEqual([200, expect.any(String)]);
    await api.call('PATCH', `${PATH}/held`, { body: { metadata: { finalizers: null } } });
    await untilGone(api, 'gizmos.example.com');
    expect((await api.call('GET', `${PATH}/held`)).code).toBe(404);
  });

  test('is removed at once if it was never established', async () => {
    await define(api, definitionBody());
    await api.call('POST', DEFINITIONS_PATH, { body: definitionBody({ plural: 'others', kind: 'Gizmo' }) });
    await untilStatus(api, 'others.example.com', (each) => conditionOf(each, 'NamesAccepted') !== undefined);
    await remove('others.example.com');
    await untilGone(api, 'others.example.com');
    expect((await api.call('GET', `${DEFINITIONS_PATH}/gizmos.example.com`)).code).toBe(200);
  });

  test('keeps other finalizers, and its name, until they are removed', async () => {
    const body = definitionBody();
    await define(api, { ...body, metadata: { ...body.metadata, finalizers: ['example.com/mine'] } });
    await remove('gizmos.example.com');
    const status = await untilStatus(
      api,
      'gizmos.example.com',
      (each) => conditionOf(each, 'Terminating')?.['status'] === 'False',
    );
    expect(conditionOf(status, 'Terminating')).toMatchObject({
      reason: 'InstanceDeletionCompleted',
      message: 'removed all instances',
    });
    const held = await api.call('GET', `${DEFINITIONS_PATH}/gizmos.example.com`);
    expect(held.json.metadata.finalizers).toEqual(['example.com/mine']);
    // The cleanup would not delete a new object.
    expect((await api.call('POST', PATH, { body: gizmo('late') })).code).toBe(405);
    await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, {
      body: { metadata: { finalizers: null } },
    });
    await untilGone(api, 'gizmos.example.com');
  });
});

describe('watches', () => {
  test('of a resource end when its served definition changes, those of others continue', async () => {
    await define(api, definitionBody());
    await define(api, definitionBody({ plural: 'others', kind: 'Other' }));
    const stop = new AbortController();
    const from = (await api.call('GET', PATH)).json.metadata.resourceVersion;
    const own = api.watch(`${PATH}?watch=1&resourceVersion=${from}`, stop.signal);
    const others = api.watch(`/apis/example.com/v1/others?watch=1&resourceVersion=${from}`, stop.signal);
    const next = [own.next(), others.next()];
    await api.call('POST', PATH, { body: gizmo('a') });
    expect((await next[0])?.value.type).toBe('ADDED');
    const labels = { metadata: { labels: { l: '1' } } };
    await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body: labels });
    const pending = own.next();
    const names = { spec: { names: { shortNames: ['g'] } } };
    await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body: names });
    expect(await pending).toEqual({ done: true, value: undefined });
    const body = { apiVersion: 'example.com/v1', kind: 'Other', metadata: { name: 'o' } };
    await api.call('POST', '/apis/example.com/v1/namespaces/default/others', { body });
    expect((await next[1])?.value.type).toBe('ADDED');
    const again = api.watch(`${PATH}?watch=1&resourceVersion=${from}`, stop.signal);
    expect((await again.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    stop.abort();
  });

  test('of a resource whose definition is deleted receive every deletion, and end', async () => {
    await define(api, definitionBody());
    await api.call('POST', PATH, { body: gizmo('a') });
    const types: string[] = [];
    const stop = new AbortController();
    const frames = api.watch(`${PATH}?watch=1`, stop.signal);
    types.push((await frames.next()).value.type);
    await remove('gizmos.example.com');
    for await (const { type } of frames) types.push(type);
    expect(types).toEqual(['ADDED', 'DELETED']);
  });
});
