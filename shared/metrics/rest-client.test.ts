import { MetricSet } from './metric-set';
import { addRestClientMetrics, ClientRequests } from './rest-client';

async function shown(requests: ClientRequests): Promise<readonly string[]> {
  const metrics = new MetricSet();
  addRestClientMetrics(metrics, requests);
  const text = (await metrics.exposition()).toString('utf8');
  return text.split('\n').filter((line) => line.startsWith('rest_client_requests_total{'));
}

test('requests are counted by server, method and code, and those without an answer as errors', async () => {
  const requests = new ClientRequests();
  const [a, b] = ['https://a.ns.svc:8443', 'https://192.0.2.1:6443/path'].map((url) =>
    requests.observerOf(url),
  );
  a?.('POST', 200, 1);
  a?.('POST', 200, 3);
  a?.('POST', 0, 5);
  b?.('GET', 404, 7);
  expect(await shown(requests)).toEqual([
    'rest_client_requests_total{code="200",method="POST",host="a.ns.svc:8443"} 2',
    'rest_client_requests_total{code="<error>",method="POST",host="a.ns.svc:8443"} 1',
    'rest_client_requests_total{code="404",method="GET",host="192.0.2.1:6443"} 1',
  ]);
  const latencies = [...requests.latencies()];
  expect(latencies.map(({ labels }) => labels)).toEqual([
    { verb: 'POST', url: 'https://a.ns.svc:8443/%7Bprefix%7D' },
    { verb: 'GET', url: 'https://192.0.2.1:6443/%7Bprefix%7D' },
  ]);
});

test('servers without end leave no series without end', async () => {
  const requests = new ClientRequests();
  for (let host = 0; host < 600; host++) requests.observerOf(`https://h${String(host)}`)('POST', 200, 1);
  expect(await shown(requests)).toHaveLength(200);
  expect([...requests.latencies()]).toHaveLength(100);
});
