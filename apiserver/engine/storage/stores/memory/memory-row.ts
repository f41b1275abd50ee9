import type { BackendRow, OpenStore } from '../../backend-row';
import { STORE_CHECK } from '../../../../../shared/names';
import { MemoryBackend } from './memory-backend';

/** Revisions that a watch can resume from. */
const REVISIONS_MAX = 10_000;

/** The store in memory, as the flags name it. */
export const MEMORY = {
  help: 'the memory of this process alone, which is lost at its end',
  names: { check: STORE_CHECK, component: 'store' },
  flags: [],
  isNamed: () => true,
  problems: () => [],
  options: () => ({}),
  open: async ({ prefix }) =>
    Promise.resolve(openMemory(new MemoryBackend({ prefix, revisionsMax: REVISIONS_MAX }))),
} as const satisfies BackendRow<object, object>;

/** Returns a store in memory as an open store. */
export function openMemory(backend: MemoryBackend): OpenStore {
  return {
    backend,
    connect: async () => Promise.resolve(),
    // It forgets its history by itself.
    keepCompact: async () => Promise.resolve(),
  };
}
