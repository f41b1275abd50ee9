import type { ApiObject } from '../../../../shared/object/object';
import { SERVICES } from '../../cluster/resources';
import { clusterOf } from '../testing/plugin-bench';
import { targetOf } from './address';

function clusterWith(spec: object) {
  const service: ApiObject = { metadata: { name: 's', namespace: 'ns' }, spec };
  return clusterOf([[SERVICES, service]]);
}

const address = { namespace: 'ns', name: 's', port: 8443, path: '/a/' };
const ports = [{ port: 443 }, { port: 8443 }];

test.each([
  ['https://example.org', { origin: 'https://example.org', host: 'example.org', port: 443, path: '/' }],
  ['https://h:1/p/q/', { origin: 'https://h:1', host: 'h', port: 1, path: '/p/q' }],
  ['https://h:1//p//q', { origin: 'https://h:1', host: 'h', port: 1, path: '/p/q' }],
  ['https://[::1]:1/', { origin: 'https://[::1]:1', host: '::1', port: 1, path: '/' }],
])('%s is used with its path cleaned', (url, target) => {
  expect(targetOf({ url }, clusterOf())).toEqual(target);
});

test('another scheme is an error', () => {
  expect(() => targetOf({ url: 'http://example.org' }, clusterOf())).toThrow(/not https/);
});

test.each(['ClusterIP', 'NodePort', 'LoadBalancer'])(
  'a Service of type %s is called at its address',
  (type) => {
    const cluster = clusterWith({ type, clusterIP: '10.0.0.7', ports });
    expect(targetOf(address, cluster)).toEqual({
      origin: 'https://s.ns.svc:8443',
      host: 's.ns.svc',
      port: 8443,
      path: '/a',
      connectTo: { host: '10.0.0.7', port: 8443 },
    });
  },
);

test('an ExternalName Service is called at that name', () => {
  const cluster = clusterWith({ type: 'ExternalName', externalName: 'example.org' });
  expect(targetOf(address, cluster).connectTo).toEqual({ host: 'example.org', port: 8443 });
});

test.each([
  [{ type: 'ClusterIP', clusterIP: 'None', ports }, 'cannot route to service with ClusterIP "None"'],
  [
    { type: 'ClusterIP', clusterIP: '10.0.0.7', ports: [{ port: 1 }] },
    'no service port 8443 found for service "s"',
  ],
  [{ type: 'Odd' }, 'unsupported service type "Odd"'],
])('a Service of %j is an error', (spec, why) => {
  expect(() => targetOf(address, clusterWith(spec))).toThrow(why);
});

test('a missing Service is an error', () => {
  expect(() => targetOf(address, clusterOf())).toThrow('service "s" not found');
});
