import { eventLine } from './event-text';
import { newEvent } from './testing/events';

const REFERENCE = {
  resource: 'deployments',
  namespace: 'x',
  name: '',
  uid: '',
  apiGroup: 'apps',
  apiVersion: 'v1',
  resourceVersion: '',
  subresource: '',
};

test('the fields stand in the order of the Go type, and absent ones are left out', () => {
  const event = newEvent({
    objectRef: REFERENCE,
    requestObject: Buffer.from('{"a":1}'),
    responseObject: Buffer.from('{"b":2}'),
    annotations: { key: 'value' },
  });
  expect(`{${event.text('v1')}`).toBe(
    '{"level":"Metadata","auditID":"id-1","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list",' +
      '"user":{"username":"alice","groups":["a","b"]},' +
      '"objectRef":{"resource":"deployments","namespace":"x","apiGroup":"apps","apiVersion":"v1"},' +
      '"responseStatus":{"metadata":{},"code":200},"requestObject":{"a":1},"responseObject":{"b":2},' +
      '"requestReceivedTimestamp":"2021-05-04T10:20:30.123000Z","stageTimestamp":"2021-05-04T10:20:30.124456Z",' +
      '"annotations":{"key":"value"}}',
  );
});

test('the oldest version writes the group in front of the version', () => {
  const event = newEvent({ objectRef: REFERENCE });
  const { objectRef } = JSON.parse(`{${event.text('v1alpha1')}`) as { objectRef: object };
  expect(objectRef).toEqual({ resource: 'deployments', namespace: 'x', apiVersion: 'apps/v1' });
});

test('whatever stands in an id or a name stays inside of its quotes', () => {
  const event = newEvent({ auditId: 'a"\n', objectRef: { ...REFERENCE, name: '"}' } });
  expect(JSON.parse(`{${event.text('v1')}`)).toMatchObject({
    auditID: 'a"\n',
    objectRef: { name: '"}' },
  });
});

test('the legacy format is one line for people', () => {
  const line = eventLine(newEvent({ objectRef: REFERENCE }));
  expect(line).toBe(
    '2021-05-04T10:20:30.123000Z AUDIT: id="id-1" stage="ResponseComplete" ip="<unknown>" method="list" ' +
      'user="alice" groups="\\"a\\",\\"b\\"" as="<self>" asgroups="<lookup>" user-agent="" namespace="x" ' +
      'uri="/api/v1/pods" response="200"',
  );
  expect(eventLine(newEvent({ responseStatus: undefined }))).toContain('response="<deferred>"');
});

test('the legacy format tells as whom a request was carried out', () => {
  const { fields } = newEvent();
  const impersonatedUser = { username: 'bob', groups: ['c', 'd'] };
  const line = eventLine(newEvent({ request: { ...fields.request, impersonatedUser } }));
  expect(line).toContain('user="alice" groups="\\"a\\",\\"b\\"" as="bob" asgroups="\\"c\\",\\"d\\""');
});
