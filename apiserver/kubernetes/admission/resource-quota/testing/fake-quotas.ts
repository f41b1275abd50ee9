import type { ResourceQuota, ResourceQuotaSpec } from '../../../../../shared/api/types/core-v1';
import type { Amounts, ResourceList } from '../../../../../shared/quota/amounts';
import { formatResourceList } from '../../../../../shared/quota/amounts';
import type { QuotaRecords, WrittenQuota } from '../quota-records';

/** Returns a quota of the namespace `ns` with these limits and usage in its status. */
export function quotaOf(
  name: string,
  { hard, used, ...spec }: ResourceQuotaSpec & { readonly hard: ResourceList; readonly used: ResourceList },
): ResourceQuota {
  return {
    metadata: { name, namespace: 'ns', uid: `uid of ${name}`, resourceVersion: '1' },
    spec: { hard, ...spec },
    status: { hard, used },
  };
}

/** The quotas of one namespace, with compare-and-swap. */
export class FakeQuotas implements QuotaRecords {
  reads = 0;
  writes = 0;
  /** Called before each write, which then finds its effects. */
  beforeWrite: (() => void) | undefined;
  readonly #quotas: Map<string, ResourceQuota>;

  constructor(quotas: readonly ResourceQuota[]) {
    this.#quotas = new Map(quotas.map((quota) => [quota.metadata.name ?? '', quota]));
  }

  ofNamespace(): readonly ResourceQuota[] {
    this.reads += 1;
    return [...this.#quotas.values()];
  }

  async writeUsed(quota: ResourceQuota, used: Amounts): Promise<WrittenQuota> {
    this.beforeWrite?.();
    await Promise.resolve();
    const name = quota.metadata.name ?? '';
    const current = this.#quotas.get(name);
    if (current?.metadata.resourceVersion !== quota.metadata.resourceVersion) {
      return { isWritten: false, quota: current };
    }
    this.writes += 1;
    this.replace(name, formatResourceList(used));
    return { isWritten: true, quota: this.#quotas.get(name) };
  }

  /** Simulates another replica. */
  replace(name: string, used: ResourceList): void {
    const quota = this.#quotas.get(name);
    if (quota === undefined) throw new Error(`there is no quota ${name}`);
    const resourceVersion = String(Number(quota.metadata.resourceVersion) + 1);
    this.#quotas.set(name, {
      ...quota,
      metadata: { ...quota.metadata, resourceVersion },
      status: { ...quota.status, used },
    });
  }

  remove(name: string): void {
    this.#quotas.delete(name);
  }

  /** By the quota's name. */
  used(): Record<string, unknown> {
    return Object.fromEntries([...this.#quotas].map(([name, quota]) => [name, quota.status?.used]));
  }
}
