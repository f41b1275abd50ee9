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
  {
    name: 'embedded-fsync',
    type: 'bool',
    default: true,
    group: STORAGE_GROUP,
    help: 'The embedded store synchronizes each write with the disk. Without it a crash of the machine can lose acknowledged writes: for tests only.',
  },
] as const satisfies readonly FlagRow[];

export interface EmbeddedStoreOptions {
  readonly dir: string;
  /** Whether each write is synchronized with the disk. */
  readonly isSynced: boolean;
}

/** The embedded store, as the flags name it. */
export const EMBEDDED = {
  help: 'a directory of this process alone',
  names: { check: STORE_CHECK, component: 'store' },
  flags: FLAGS,
  needs: { flag: 'embedded-dir' },
  isNamed: ({ embeddedDir }) => embeddedDir !== '',
  problems: () => [],
  options: ({ embeddedDir, embeddedFsync }) => ({ dir: embeddedDir, isSynced: embeddedFsync }),
  open: async ({ dir, prefix, isSynced }, { clock, log }) => {
    const backend = await openEmbeddedBackend({ directory: dir, prefix, isSynced, clock, log });
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
