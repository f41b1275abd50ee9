import type { FlagRow, FlagValues } from '../../../../../shared/flags/flag-row';
import { STORE_CHECK } from '../../../../../shared/names';
import type { BackendRow } from '../../backend-row';
import { STORAGE_GROUP } from '../../backend-row';
import { openEmbeddedBackend } from './embedded-backend';

const FLAGS = [
  {
    name: 'embedded-dir',
    type: 'string',
    default: '',
    group: STORAGE_GROUP,
    help: 'The data directory of the embedded store.',
  },
] as const satisfies readonly FlagRow[];

export interface EmbeddedStoreOptions {
  readonly dir: string;
}

/** The embedded store, as the flags name it. */
export const EMBEDDED = {
  help: 'a directory of this process alone',
  names: { check: STORE_CHECK, component: 'store' },
  flags: FLAGS,
  needs: { flag: 'embedded-dir' },
  isNamed: ({ embeddedDir }) => embeddedDir !== '',
  problems: () => [],
  options: ({ embeddedDir }) => ({ dir: embeddedDir }),
  open: async ({ dir, prefix }, { clock, log }) => {
    const backend = await openEmbeddedBackend({ directory: dir, prefix, clock, log });
    return {
      backend,
      failed: backend.failed,
      backup: () => backend.backup(),
      // What is open has been read.
      connect: async () => Promise.resolve(),
      // It forgets its history by itself.
      keepCompact: async () => Promise.resolve(),
    };
  },
} as const satisfies BackendRow<FlagValues<typeof FLAGS>, EmbeddedStoreOptions>;
