import { startInProcessApi } from '../testing/in-process-api';

test('two servers in one process count webhook calls and graph changes apart', async () => {
  const [one, other] = await Promise.all([
    startInProcessApi(undefined, { authorizationModes: ['Node', 'RBAC'] }),
    startInProcessApi(undefined, { authorizationModes: ['Node', 'RBAC'] }),
  ]);
  try {
    one.plane.requests.observerOf('https://webhook.example')('POST', 200, 1);
    one.plane.graphTimes.observe('AddPod', performance.now());
    expect(one.plane.requests.take().codes).toHaveLength(1);
    expect(other.plane.requests.take().codes).toEqual([]);
    expect([...one.plane.graphTimes.read()].map(([action]) => action)).toEqual(['AddPod']);
    expect([...other.plane.graphTimes.read()]).toEqual([]);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});
