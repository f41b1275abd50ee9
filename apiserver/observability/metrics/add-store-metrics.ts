import type { Registry } from 'prom-client';
import { addCounter } from './collected';

/** What a store tells of itself beside its answers. */
export interface StoreReport {
  /** How often it was replaced by another or an older one. Absent: nobody can. */
  readonly replacements?: () => number;
}

/** Shows what befell the store. */
export function addStoreMetrics(registry: Registry, { replacements = () => 0 }: StoreReport): void {
  addCounter(registry, {
    name: 'apiserver_store_replacements_total',
    help: 'Replacements of the store by another, an empty or an older one, as this replica has seen them.',
    read: () => [[{}, replacements()]],
  });
}
