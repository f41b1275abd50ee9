import { postTo } from './gateway';

/** Ends all leases of an etcd as their time would, by the same entry in its log. Resolves to how many there were. */
export async function endLeases(etcdUrl: string): Promise<number> {
  const { leases = [] } = (await postTo(etcdUrl, '/v3/lease/leases', {})) as {
    readonly leases?: readonly { readonly ID: string }[];
  };
  for (const { ID } of leases) await postTo(etcdUrl, '/v3/lease/revoke', { ID });
  return leases.length;
}
