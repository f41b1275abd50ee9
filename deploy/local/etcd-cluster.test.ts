import { startEtcdCluster } from './etcd-cluster';

describe('startEtcdCluster', () => {
  test('a set of three has one leader, and another one after the leader was killed', async () => {
    const cluster = await startEtcdCluster({ size: 3 });
    try {
      expect(cluster.endpoints).toHaveLength(3);
      const first = await cluster.leader();
      await first.kill();
      expect(first.pid).toBeUndefined();
      const second = await cluster.leader();
      expect(second.name).not.toBe(first.name);
      await first.start();
      await first.healthy();
      expect(first.pid).toBeGreaterThan(0);
    } finally {
      await cluster.stop();
    }
    expect(cluster.members.map((member) => member.pid)).toEqual([undefined, undefined, undefined]);
  });

  test('a missing program is told by the name of its package', async () => {
    const program = process.env['PATH'];
    process.env['PATH'] = '/nonexistent';
    try {
      await expect(startEtcdCluster({ size: 1 })).rejects.toThrow('etcd-server');
    } finally {
      process.env['PATH'] = program;
    }
  });
});
