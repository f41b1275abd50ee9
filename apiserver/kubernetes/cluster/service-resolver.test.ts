import type { Endpoints, Service } from '../../../shared/api/types/core-v1';
import { clusterOf } from '../admission/testing/plugin-bench';
import { ENDPOINTS, SERVICES } from './resources';
import { resolveEndpoint } from './service-resolver';

const metadata = { name: 's', namespace: 'ns' };
const service = {
  metadata,
  spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443 }] },
} as unknown as Service;
const endpoints: Endpoints = {
  metadata,
  subsets: [
    { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'other', port: 1 }] },
    { addresses: [{ ip: '10.1.0.2' }, { ip: '10.1.0.3' }], ports: [{ name: 'https', port: 8443 }] },
    { ports: [{ name: 'https', port: 8443 }] },
  ],
};

test('a Service resolves to a ready address of the port with the same name', () => {
  const cluster = clusterOf([
    [SERVICES, service],
    [ENDPOINTS, endpoints],
  ]);
  const port = { namespace: 'ns', name: 's', port: 443 };
  expect(resolveEndpoint(port, cluster, () => 0)).toEqual({ host: '10.1.0.2', port: 8443 });
  expect(resolveEndpoint(port, cluster, (bound) => bound - 1)).toEqual({ host: '10.1.0.3', port: 8443 });
});

test('a Service without ready endpoints, or without the port, cannot be resolved', () => {
  const cluster = clusterOf([[SERVICES, service]]);
  const resolve = (port: number) => () => resolveEndpoint({ ...metadata, port }, cluster, () => 0);
  expect(resolve(443)).toThrow('no endpoints available for service "s"');
  expect(resolve(80)).toThrow('no service port 80 found for service "s"');
});
