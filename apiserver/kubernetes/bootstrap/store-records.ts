import type { ApiLevel } from '../../../shared/api-level';
import {
  apiLevel,
  formatApiLevel,
  isApiLevelChosen,
  parseApiLevel,
  VERIFIED_LEVELS,
} from '../../../shared/api-level';
import { dialect } from '../../../shared/names';
import type { Backend } from '../../engine/storage/backend';
import { readOrCreate } from './own-record';

/** The store has another API level than this process, and the command line does not choose one. */
export class ApiLevelMismatch extends Error {
  /** The level of the store. */
  readonly level: ApiLevel;

  constructor(level: ApiLevel) {
    super(`the store has the API level ${formatApiLevel(level)}`);
    this.level = level;
  }
}

/**
 * Records the dialect and the API level of the objects at the first start on a store. Group and namespace names are part of the keys, so a
 * start with another dialect throws an Error that says what to do. A store keeps its API level until `--api-level` is given: a start
 * without it throws an ApiLevelMismatch, after which the program starts again with the store's level. Objects of levels and fields that
 * another level does not have stay stored (ADR 64), so that replicas of several levels may use one store.
 */
export async function checkRecords(backend: Backend, prefix: string, signal: AbortSignal): Promise<void> {
  const isNew = (await backend.get(`${prefix}.dialect`, signal)).record === undefined;
  const found = await readOrCreate(backend, { key: `${prefix}.dialect`, make: () => dialect }, signal);
  if (found !== dialect) {
    throw new Error(
      `the store below ${prefix} was written with --dialect=${found ?? 'unknown'}; start with that dialect, or on another store (--embedded-dir, or with etcd --etcd-prefix)`,
    );
  }
  await checkApiLevel(backend, { key: `${prefix}.api-level`, isNew }, signal);
}

async function checkApiLevel(
  backend: Backend,
  { key, isNew }: { readonly key: string; readonly isNew: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { record } = await backend.get(key, signal);
  const own = formatApiLevel(apiLevel);
  // A store without the record was last used by a server that had the first level alone.
  const stored =
    parseApiLevel(record?.value.toString('utf8') ?? '') ?? (isNew ? undefined : VERIFIED_LEVELS[0]);
  if (stored !== undefined && stored !== apiLevel && !isApiLevelChosen) throw new ApiLevelMismatch(stored);
  if (record === undefined) await backend.create(key, Buffer.from(own), {}, signal);
  // When replicas start at different levels at once, the record of one of them stays.
  else if (stored !== apiLevel) {
    await backend.update(key, Buffer.from(own), { expected: record.revision }, signal);
  }
}
