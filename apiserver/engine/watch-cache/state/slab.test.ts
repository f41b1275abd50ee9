import type { SlabTenant } from './slab';
import { SLAB_BYTES, Slabs } from './slab';

interface Tenant extends SlabTenant {
  readonly text: string;
}

function store(slabs: Slabs, text: string): Tenant {
  const tenant: Tenant = { text, bytes: Buffer.alloc(0), slab: undefined };
  slabs.store(tenant, text.slice(0, 3), Buffer.from(text.slice(3)));
  return tenant;
}

test('small tenants share small slabs, and a tenant larger than a slab gets one of its own', () => {
  const slabs = new Slabs();
  const first = store(slabs, 'first');
  expect(first.bytes.toString()).toBe('first');
  expect(slabs.allocatedBytes).toBeLessThanOrEqual(4_096);
  const large = store(slabs, 'x'.repeat(SLAB_BYTES * 2));
  expect(large.bytes.length).toBe(SLAB_BYTES * 2);
  slabs.release(large);
  slabs.release(large);
  expect(slabs.allocatedBytes).toBeLessThanOrEqual(4_096);
  expect(slabs.liveBytes).toBe(5);
});

test('memory stays within about twice the live bytes after random releases, and live bytes stay exact', () => {
  const slabs = new Slabs();
  const live: Tenant[] = [];
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let step = 0; step < 20_000; step += 1) {
    live.push(store(slabs, `${step}:`.padEnd(200 + random(2_000), 'abc')));
    while (live.length > 1_500) {
      const [gone] = live.splice(random(live.length), 1);
      if (gone !== undefined) slabs.release(gone);
    }
  }
  expect(live.every(({ bytes, text }) => bytes.toString() === text)).toBe(true);
  expect(slabs.liveBytes).toBe(live.reduce((sum, { text }) => sum + text.length, 0));
  expect(slabs.allocatedBytes).toBeLessThan(slabs.liveBytes * 2 + 2 * SLAB_BYTES);
  expect(slabs.moves).toBeGreaterThan(0);
});

test('the old bytes of a moved tenant stay readable', () => {
  const slabs = new Slabs();
  const kept = store(slabs, 'keep me');
  const held = kept.bytes;
  const others = Array.from({ length: 100 }, (_, at) => store(slabs, `other ${at}`.padEnd(100)));
  for (const other of others) slabs.release(other);
  expect(kept.bytes).not.toBe(held);
  expect([held.toString(), kept.bytes.toString()]).toEqual(['keep me', 'keep me']);
});
