import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { AUDIT_ANNOTATION, GROUP, MEDIA_TYPE, WEB_SOCKET_TOKEN_PREFIX } from '../../../shared/names';
import type { AuditedServer } from '../../testing/audit/audited-server';
import { startAuditedServer } from '../../testing/audit/audited-server';

const CMS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

let server: AuditedServer;
beforeAll(async () => {
  server = await startAuditedServer({
    policy: {
      rules: [
        { level: 'None', resources: [{ group: '', resources: ['services'] }] },
        { level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps', 'pods/binding'] }] },
        { level: 'Request', resources: [{ group: '', resources: ['secrets'] }] },
        {
          level: 'Metadata',
          omitStages: ['RequestReceived'],
          resources: [{ group: '', resources: ['limitranges'] }],
        },
        { level: 'None', nonResourceURLs: ['/healthz*', '/metrics'] },
        { level: 'Metadata' },
      ],
    },
  });
});
afterAll(async () => {
  await server.stop();
});

let requestsMade = 0;
/** A request under an id of its own, and its events. */
async function audited(method: string, url: string, options: Parameters<AuditedServer['call']>[2] = {}) {
  requestsMade += 1;
  const id = `test-${String(requestsMade)}`;
  const reply = await server.call(method, url, {
    ...options,
    headers: { ...options.headers, 'Audit-ID': id },
  });
  return { reply, events: server.events(id) };
}

describe('events', () => {
  test('a read has an event before and one after it, with all that is known of it', async () => {
    const { reply, events } = await audited('GET', '/api/v1/namespaces/default?pretty=false', {
      headers: { 'user-agent': 'probe/1', 'X-Forwarded-For': '192.0.2.1, nonsense, 192.0.2.2' },
    });
    expect(reply.headers['audit-id']).toBe(events[0].auditID);
    expect(events[0]).toEqual({
      kind: 'Event',
      apiVersion: expect.stringMatching(/^audit\..+\/v1$/),
      level: 'Metadata',
      auditID: expect.any(String),
      stage: 'RequestReceived',
      requestURI: '/api/v1/namespaces/default?pretty=false',
      verb: 'get',
      user: {
        username: 'alice',
        uid: '42',
        groups: ['system:masters', 'readers', 'system:authenticated'],
      },
      sourceIPs: ['192.0.2.1', '192.0.2.2', '127.0.0.1'],
      userAgent: 'probe/1',
      objectRef: { resource: 'namespaces', namespace: 'default', name: 'default', apiVersion: 'v1' },
      requestReceivedTimestamp: expect.stringMatching(MICRO_TIME),
      stageTimestamp: events[0].requestReceivedTimestamp,
    });
    expect(events[1]).toEqual({
      ...events[0],
      stage: 'ResponseComplete',
      responseStatus: { metadata: {}, code: 200 },
      stageTimestamp: expect.stringMatching(MICRO_TIME),
      annotations: {
        [AUDIT_ANNOTATION.authorizationDecision]: 'allow',
        [AUDIT_ANNOTATION.authorizationReason]: '',
      },
    });
    expect(events[1].stageTimestamp > events[1].requestReceivedTimestamp).toBe(true);
    expect(events).toHaveLength(2);
  });

  test('without an id from the client every request gets a uuid of its own', async () => {
    const first = await server.call('GET', '/version');
    const second = await server.call('GET', '/version');
    expect(first.headers['audit-id']).toMatch(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);
    expect(second.headers['audit-id']).not.toBe(first.headers['audit-id']);
  });

  test('what the policy wants nothing of leaves no event and no id in the answer', async () => {
    const { reply, events } = await audited('GET', '/api/v1/services');
    expect(reply.code).toBe(200);
    expect(reply.headers['audit-id']).toBeUndefined();
    expect(events).toEqual([]);
  });

  test('a stage that the policy omits has no event', async () => {
    const { events } = await audited('GET', '/api/v1/limitranges');
    expect(events.map(({ stage }) => stage)).toEqual(['ResponseComplete']);
  });

  test('the request object is logged as the client sent it', async () => {
    const { reply, events } = await audited('GET', '/api/v1/%6eamespaces/defaul%74?pretty=%66alse&');
    expect(reply.code).toBe(200);
    expect(events[1]).toMatchObject({
      requestURI: '/api/v1/%6eamespaces/defaul%74?pretty=%66alse&',
      objectRef: { resource: 'namespaces', name: 'default' },
    });
  });

  test('a path that is no resource has no object', async () => {
    const { events } = await audited('GET', '/apis');
    expect(events[1]).toMatchObject({ verb: 'get', requestURI: '/apis', responseStatus: { code: 200 } });
    expect(events[1]).not.toHaveProperty('objectRef');
    expect(events[1]).not.toHaveProperty('responseObject');
  });

  test('a HEAD that is refused and a list in pages are recorded like any other request', async () => {
    expect((await audited('HEAD', CMS)).events.map(({ responseStatus }) => responseStatus?.code)).toEqual([
      undefined,
      405,
    ]);
    const { events } = await audited('GET', '/api/v1/namespaces?limit=1');
    expect(events[1]).toMatchObject({ verb: 'list', responseStatus: { code: 200 } });
  });
});

describe('objects', () => {
  test('a creation at RequestResponse has what was sent and what was answered, and names the object', async () => {
    const body = { metadata: { name: 'full' }, data: { a: 'ü' } };
    const { reply, events } = await audited('POST', CMS, { body });
    expect(reply.code).toBe(201);
    expect(events[0].objectRef).toEqual({ resource: 'configmaps', namespace: 'default', apiVersion: 'v1' });
    expect(events[1].objectRef).toMatchObject({ name: 'full', namespace: 'default' });
    expect(events[1].requestObject).toEqual(body);
    expect(events[1].responseObject).toEqual(JSON.parse(reply.text));
    expect(events[1].responseStatus).toEqual({ metadata: {}, code: 201 });
  });

  test('an update names the version and the uid that the client sent', async () => {
    const made = JSON.parse(
      (await server.call('POST', CMS, { body: { metadata: { name: 'twice' } } })).text,
    ) as { metadata: { uid: string; resourceVersion: string } };
    const { events } = await audited('PUT', `${CMS}/twice`, { body: { ...made, data: { b: '1' } } });
    const { uid, resourceVersion } = made.metadata;
    expect(events[1].objectRef).toMatchObject({ name: 'twice', uid, resourceVersion });
  });

  test('at Request the answer is left out, and a patch stands as it was sent', async () => {
    await server.call('POST', SECRETS, { body: { metadata: { name: 's' } } });
    const { events } = await audited('PATCH', `${SECRETS}/s`, { body: { stringData: { k: 'v' } } });
    expect(events[1]).toMatchObject({ level: 'Request', requestObject: { stringData: { k: 'v' } } });
    expect(events[1]).not.toHaveProperty('responseObject');
  });

  test('at Metadata nothing of the body is kept, but the name in it', async () => {
    const { events } = await audited('POST', '/api/v1/namespaces', { body: { metadata: { name: 'other' } } });
    expect(events[1]).toMatchObject({ level: 'Metadata', objectRef: { name: 'other' } });
    expect(events[1]).not.toHaveProperty('requestObject');
    expect(events[1]).not.toHaveProperty('responseObject');
  });

  test('a body on many lines, one in YAML and an applied configuration in YAML become JSON on one line', async () => {
    const pretty = JSON.stringify({ metadata: { name: 'pretty' }, data: { text: 'a\nb' } }, undefined, 2);
    const first = await audited('POST', CMS, { raw: pretty.replaceAll('\n', '\r\n') });
    expect(first.events[1].requestObject).toEqual(JSON.parse(pretty));
    const second = await audited('POST', CMS, {
      raw: 'metadata:\n  name: yaml\ndata:\n  a: "1"\n',
      headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
    });
    expect(second.events[1].requestObject).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    expect(second.events[1].responseObject).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    const third = await audited('PATCH', `${CMS}/applied?fieldManager=t`, {
      raw: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n',
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect(third.reply.code).toBe(201);
    expect(third.events[1].requestObject).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'applied' },
    });
  });

  test('Protobuf is logged as the JSON of its object, a Table as the Table', async () => {
    await server.call('POST', CMS, { body: { metadata: { name: 'shapes' } } });
    const protobuf = await audited('GET', `${CMS}/shapes`, { headers: { accept: MEDIA_TYPE.protobuf } });
    expect(protobuf.reply.headers['content-type']).toBe(MEDIA_TYPE.protobuf);
    expect(protobuf.events[1].responseObject).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'shapes' },
    });
    const list = await audited('GET', CMS, { headers: { accept: MEDIA_TYPE.protobuf } });
    expect(list.events[1].responseObject).toMatchObject({ kind: 'ConfigMapList' });
    const table = await audited('GET', CMS, {
      headers: { accept: `application/json;as=Table;v=v1;g=${GROUP.meta}` },
    });
    expect(table.events[1].responseObject).toMatchObject({ kind: 'Table', rows: expect.any(Array) });
  });

  test('a deletion has its options and the outcome that the answer tells', async () => {
    await server.call('POST', CMS, { body: { metadata: { name: 'gone' } } });
    const { events } = await audited('DELETE', `${CMS}/gone`, { body: { propagationPolicy: 'Background' } });
    expect(events[1]).toMatchObject({
      requestObject: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
      responseStatus: { status: 'Success', code: 200 },
      responseObject: { kind: 'Status', status: 'Success' },
    });
  });

  test('a compressed list of many pieces stands in the event as a whole', async () => {
    const text = 'x'.repeat(50_000);
    for (let index = 0; index < 12; index += 1) {
      const body = { metadata: { name: `big-${String(index)}`, labels: { size: 'big' } }, data: { text } };
      expect((await server.call('POST', CMS, { body })).code).toBe(201);
    }
    const { events } = await audited('GET', `${CMS}?labelSelector=size%3Dbig`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(events[1].responseObject.items).toHaveLength(12);
    expect(events[1].responseObject.items[11].data.text).toBe(text);
  });
});

describe('requests that come to nothing', () => {
  test('a wrong token leaves one event, without a user', async () => {
    const { reply, events } = await audited('GET', CMS, { token: 'wrong' });
    expect(reply.code).toBe(401);
    expect(reply.headers['audit-id']).toBe(events[0].auditID);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { status: 'Failure', reason: 'Unauthorized', code: 401 },
    });
  });

  test('a timeout that cannot be read leaves one event, as it is refused before anybody is asked for', async () => {
    const { reply, events } = await audited('GET', '/api/v1/namespaces?timeout=soon');
    expect(reply.code).toBe(400);
    expect(events).toMatchObject([{ stage: 'ResponseStarted', responseStatus: { code: 400 } }]);
  });

  test.each([
    ['GET', `${CMS}/missing`, 404, 'NotFound'],
    ['PUT', CMS, 405, 'MethodNotAllowed'],
    ['GET', `${CMS}?resourceVersion=x`, 400, 'BadRequest'],
  ])('%s %s is recorded with %i and its reason', async (method, url, code, reason) => {
    const { reply, events } = await audited(method, url);
    expect(reply.code).toBe(code);
    expect(events[1]).toMatchObject({
      stage: 'ResponseComplete',
      responseStatus: { metadata: {}, status: 'Failure', reason, code },
      responseObject: { kind: 'Status', reason },
    });
  });

  test('a resource that is unknown is recorded under the name in the path', async () => {
    const { events } = await audited('GET', '/api/v1/namespaces/default/nothings/one');
    expect(events[1]).toMatchObject({
      objectRef: { resource: 'nothings', name: 'one' },
      responseStatus: { code: 404, reason: 'NotFound' },
    });
  });

  test('an unknown page is recorded with its code', async () => {
    const { events } = await audited('GET', '/apis/unknown/v1/things');
    expect(events[1].responseStatus).toEqual({ metadata: {}, code: 404 });
  });

  test('a body that is too long is recorded with 413, and not kept', async () => {
    const { reply, events } = await audited('POST', CMS, { raw: Buffer.alloc(4 * 1024 * 1024, 32) });
    expect(reply.code).toBe(413);
    expect(events[1]).toMatchObject({ responseStatus: { code: 413, reason: 'RequestEntityTooLarge' } });
    expect(events[1]).not.toHaveProperty('requestObject');
  });

  test('a body that is no JSON is not kept either', async () => {
    const { events } = await audited('POST', CMS, { raw: '{"metadata":' });
    expect(events[1]).toMatchObject({ responseStatus: { code: 400 } });
    expect(events[1]).not.toHaveProperty('requestObject');
  });
});

test('a request to a deprecated version says so, and which release has it no more', async () => {
  const { reply, events } = await audited('GET', '/apis/batch/v1beta1/cronjobs');
  expect(reply.headers['warning']).toContain('deprecated');
  expect(events[1].annotations).toMatchObject({
    [AUDIT_ANNOTATION.deprecated]: 'true',
    [AUDIT_ANNOTATION.removedRelease]: '1.25',
  });
});

test('a watch has an event when it begins and one when it ends', async () => {
  const stream = await server.open('GET', `${CMS}?watch=1&timeoutSeconds=60`, {
    headers: { 'Audit-ID': 'watch-1' },
  });
  expect(stream.headers['audit-id']).toBe('watch-1');
  const begun = server.events('watch-1').map(({ stage }) => stage as string);
  expect(begun).toEqual(['RequestReceived', 'ResponseStarted']);
  stream.destroy();
  const [, , last] = await server.untilEvents('watch-1', 3);
  expect(last.stage).toBe('ResponseComplete');
  expect(last).toMatchObject({ verb: 'watch', responseStatus: { metadata: {}, code: 200 } });
  expect(last).not.toHaveProperty('responseObject');
});

test('a watch over a WebSocket has the same events', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${String(server.port)}${CMS}?watch=1`, {
    rejectUnauthorized: false,
    headers: { authorization: 'Bearer letmein', 'Audit-ID': 'watch-2' },
  });
  await once(socket, 'open');
  socket.terminate();
  const events = await server.untilEvents('watch-2', 3);
  expect(events.map(({ stage }) => stage)).toEqual([
    'RequestReceived',
    'ResponseStarted',
    'ResponseComplete',
  ]);
  expect(events.slice(1).map(({ responseStatus }) => responseStatus.code)).toEqual([101, 101]);
});

test('a WebSocket may bring its token among the subprotocols, and neither answer nor event shows it', async () => {
  const carrier = WEB_SOCKET_TOKEN_PREFIX + Buffer.from('letmein').toString('base64url');
  const connect = (...protocols: string[]): WebSocket =>
    new WebSocket(`wss://127.0.0.1:${String(server.port)}${CMS}?watch=1`, protocols, {
      rejectUnauthorized: false,
      headers: { 'Audit-ID': 'watch-3' },
    });
  const socket = connect(carrier, 'frames.v1');
  await once(socket, 'open');
  expect(socket.protocol).toBe('frames.v1');
  socket.terminate();
  const events = await server.untilEvents('watch-3', 3);
  expect(events[1]).toMatchObject({ user: { username: 'alice' } });
  expect(JSON.stringify(events)).not.toContain(carrier);
  const alone = connect(carrier);
  alone.on('error', () => undefined);
  const [, refused] = (await once(alone, 'unexpected-response')) as [unknown, IncomingMessage];
  expect(refused.statusCode).toBe(401);
});

test('a watch that is refused has all three events', async () => {
  const { events } = await audited('GET', `${CMS}?watch=1&resourceVersion=x`);
  expect(events.map(({ stage }) => stage)).toEqual([
    'RequestReceived',
    'ResponseStarted',
    'ResponseComplete',
  ]);
});

test('the metrics count events and requests by level', async () => {
  const { text } = await server.call('GET', '/metrics');
  expect(text).toMatch(/^apiserver_audit_event_total [1-9]/m);
  expect(text).toMatch(/^apiserver_audit_level_total\{level="None"\} [1-9]/m);
  expect(text).toMatch(/^apiserver_audit_level_total\{level="RequestResponse"\} [1-9]/m);
  expect(text).toMatch(/^apiserver_audit_requests_rejected_total 0$/m);
});
