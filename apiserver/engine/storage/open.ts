import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import type { BackendRow, CommonStoreOptions, OpenParts, OpenStore } from './backend-row';
import { STORAGE_GROUP } from './backend-row';
import { EMBEDDED } from './stores/embedded/embedded-row';
import { ETCD } from './stores/etcd/etcd-row';
import { MEMORY } from './stores/memory/memory-row';

/** The stores by the value of `--storage-backend`; the first is the default. A new store is a row here and a folder. */
const BACKENDS = { etcd3: ETCD, embedded: EMBEDDED, memory: MEMORY } as const;

export type BackendName = keyof typeof BACKENDS;

type OptionsOf<Name extends BackendName> = ReturnType<(typeof BACKENDS)[Name]['options']>;

/** The validated options of the store. */
export type StoreOptions = {
  readonly [Name in BackendName]: { readonly backend: Name } & OptionsOf<Name> & CommonStoreOptions;
}[BackendName];

const NAMES = Object.keys(BACKENDS) as readonly BackendName[];
const [DEFAULT = 'etcd3'] = NAMES;

/** The flags of all stores. */
export const STORE_FLAGS = [
  {
    name: 'storage-backend',
    type: 'enum',
    values: NAMES,
    default: DEFAULT,
    group: STORAGE_GROUP,
    help: `The store: ${NAMES.map((name) => BACKENDS[name].help).join(', or ')}.`,
  },
  ...NAMES.flatMap((name): (typeof BACKENDS)[BackendName]['flags'][number][] => [...BACKENDS[name].flags]),
  {
    name: 'etcd-prefix',
    type: 'string',
    default: '/registry',
    group: STORAGE_GROUP,
    help: 'The prefix of all keys in etcd.',
  },
  {
    name: 'etcd-compaction-interval',
    type: 'duration',
    default: '5m0s',
    group: STORAGE_GROUP,
    help: 'The interval of compaction of the store, which is also how long a paginated list can be continued. 0 disables compaction and leaves paginated lists at 5m0s.',
  },
  {
    name: 'etcd-db-metric-poll-interval',
    type: 'duration',
    default: '30s',
    group: STORAGE_GROUP,
    help: 'The interval at which the size of the database of each etcd member is asked for, for metrics. 0 disables it.',
  },
] as const satisfies readonly FlagRow[];

type StoreFlags = FlagValues<typeof STORE_FLAGS>;

/** The rows with erased types: each row only gets options that it made itself. */
const ROWS: Readonly<Record<BackendName, BackendRow<StoreFlags, object>>> = BACKENDS;

/** Warnings about the flags of the store, as sentences for the log. */
export function storeWarnings(flags: StoreFlags): readonly string[] {
  return ROWS[flags.storageBackend].warnings?.(flags) ?? [];
}

/** Errors in the flags of the store, as sentences for the user. */
export function storeProblems(flags: StoreFlags): readonly string[] {
  const { storageBackend: chosen, etcdPrefix } = flags;
  const row = ROWS[chosen];
  const { flag = '', hint } = row.needs ?? {};
  const needed = `--${flag} is needed with --storage-backend=${chosen}${hint === undefined ? '' : `; ${hint}`}`;
  return [
    ...(row.isNamed(flags) ? [] : [needed]),
    ...row.problems(flags),
    ...NAMES.flatMap((name) => {
      const { needs } = ROWS[name];
      return name === chosen || needs === undefined || !ROWS[name].isNamed(flags)
        ? []
        : [`--${needs.flag} needs --storage-backend=${name}`];
    }),
    ...(/[^/]/.test(etcdPrefix) ? [] : ['--etcd-prefix must not be empty']),
  ];
}

/** Converts valid flags to the options of the chosen store. */
export function storeOptions(flags: StoreFlags): StoreOptions {
  const backend = flags.storageBackend;
  return {
    backend,
    ...ROWS[backend].options(flags),
    prefix: `/${flags.etcdPrefix.replaceAll(/^\/+|\/+$/g, '')}`,
    compactionIntervalMs: flags.etcdCompactionIntervalMs,
    sizePollMs: flags.etcdDbMetricPollIntervalMs,
  } as StoreOptions;
}

export interface StoreNames {
  readonly check: string;
  readonly component: string;
}

export interface OpenedStore extends OpenStore {
  /** Its names in health checks and ComponentStatuses. */
  readonly names: StoreNames;
}

/** The names of the store in health checks and ComponentStatuses. */
export function storeNames(options: StoreOptions): StoreNames {
  return ROWS[options.backend].names;
}

/** Opens the store the options name. Throws a StorageError that says what to do when it cannot be used at all. */
export async function openStore(options: StoreOptions, parts: OpenParts): Promise<OpenedStore> {
  const row = ROWS[options.backend];
  return { names: storeNames(options), ...(await row.open(options, parts)) };
}
